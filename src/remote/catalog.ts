/** The repositories of a registry (Docker Registry HTTP API V2, "Listing Repositories"): not every registry tells them. */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import type { Connections, RegistryRequest } from './connections.ts'
import { nextPage } from './next-page.ts'

const maxListBytes = 64 * 1024 * 1024

const Page = z.object({ repositories: z.array(z.string()).nullable() })

/**
 * Every repository, without the host; undefined where the registry has no such list, or not for everybody.
 *
 * @throws KnownError the REGISTRY_ codes
 */
export async function listRepositories(
  connections: Connections,
  registry: string,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  const repositories: string[] = []
  let path: string | URL | undefined = '_catalog?n=1000'
  while (path !== undefined) {
    const request: RegistryRequest = {
      ...{ method: 'GET', registry, path, subject: registry, lane: 'request', signal },
      expect: [200, 403, 404, 405, 501],
    }
    const { answer, bytes } = await connections.read(request, maxListBytes)
    if (answer.status !== 200) return undefined
    path = nextPage(answer)
    repositories.push(...readPage(bytes, registry))
  }
  return repositories
}

function readPage(body: Uint8Array, registry: string): readonly string[] {
  try {
    return Page.parse(JSON.parse(new TextDecoder().decode(body))).repositories ?? []
  } catch (cause) {
    throw new KnownError('REGISTRY_PROTOCOL', `${registry}: the list of repositories is not a list of repositories`, {
      details: { host: registry },
      cause,
    })
  }
}
