/** What a config refers to and does not hold: read from the web where that is allowed. */
import type { Command } from 'commander'
import { KnownError } from '../errors/known-error.ts'
import { type FetchResource, refuseRemote } from '../ignition/render-config.ts'
import type { WebClient } from '../remote/web-client.ts'
import { addRetryOptions, addSourceOptions, type ConnectionOptions } from './connection-options.ts'
import type { CliContext } from './context.ts'
import { openWeb } from './web-access.ts'

export interface FetchOptions extends ConnectionOptions {
  fetch?: boolean
}

export function addFetchOptions(command: Command): Command {
  command.option(
    '--fetch',
    'read what the config refers to at http and https; without it everything has to be in the file',
  )
  return addRetryOptions(addSourceOptions(command))
}

/** Larger is no config and no file of one. */
const maxBytes = 256 * 1024 * 1024
/** What Ignition says; the machine config server answers in this version instead of an old one. */
const accept = 'application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1'

/** @param use may fetch as long as it runs */
export async function withFetch<T>(
  options: FetchOptions,
  context: CliContext,
  use: (fetch: FetchResource) => Promise<T>,
): Promise<T> {
  if (options.fetch !== true) return use(refuseRemote)
  const web = await openWeb(options, context)
  try {
    return await use((resource, name) => fetched(web, { resource, name }, context.signal))
  } finally {
    web.close()
  }
}

interface Asked {
  readonly resource: Parameters<FetchResource>[0]
  readonly name: string
}

async function fetched(web: WebClient, { resource, name }: Asked, signal: AbortSignal): Promise<Uint8Array> {
  const { source, httpHeaders = [] } = resource
  const url = URL.parse(source ?? '')
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return refuseRemote(resource, name)
  const own = httpHeaders.flatMap(({ name: header, value }) => (value ? [[header.toLowerCase(), value] as const] : []))
  const headers = { accept, ...Object.fromEntries(own) }
  const document = await web.read(url, { what: name, signal, headers, maxBytes })
  if (document) return document.bytes
  throw new KnownError('WEB_REFUSED', `${name}: there is nothing at ${url.href}`, { details: { url: url.href } })
}
