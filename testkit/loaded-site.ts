/** A closed side after a load: a registry that holds images, and a workspace that says that an archive brought them. */

import { composeFront } from '../src/archive/format/compose-front.ts'
import { historyDirectories, recordLoad } from '../src/archive/history/archive-history.ts'
import { archiveImage, contentOf } from '../src/mirror/archive-plan.ts'
import { archiveTarget } from '../src/mirror/archive-target.ts'
import { resolveImage } from '../src/mirror/closure.ts'
import { parseMirrorTarget } from '../src/mirror/destination.ts'
import { planMirror } from '../src/mirror/plan.ts'
import { planLines } from '../src/mirror/plan-file.ts'
import type { SelectedImage } from '../src/mirror/selection.ts'
import { type Workspace, workspaceAt } from '../src/mirror/workspace.ts'
import { type Digest, digestOf } from '../src/oci/digest.ts'
import type { RegistryClient } from '../src/remote/client.ts'
import { makeImage, makeSignature } from './image.ts'
import { type ScriptedRegistry, startScriptedRegistry } from './scripted-registry.ts'
import { pushAll } from './seed.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'
import { testClient } from './test-client.ts'

export interface LoadedSite {
  readonly registry: ScriptedRegistry
  readonly client: RegistryClient
  /** `docker://HOST:PORT/ocp` */
  readonly location: string
  readonly directory: string
  readonly workspace: Workspace
  /** Everything that the archive carried. */
  readonly carried: readonly Digest[]
}

/** Two images that share a layer, one of them signed, below `ocp`. */
export async function loadedSite(t: Cleanup): Promise<LoadedSite> {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  const signed = makeImage({ seed: 'web', tag: '1' })
  const content = [
    { repository: 'ocp/sample/web', images: [signed, makeSignature(signed)] },
    { repository: 'ocp/sample/tool', images: [makeImage({ seed: 'tool', tag: '2' })] },
  ]
  await pushAll(client, registry.address, content)
  registry.requests.length = 0
  const location = `docker://${registry.address}/ocp`
  const directory = await tempDir(t)
  const workspace = workspaceAt(directory, '/')
  const carried = await recordSampleLoad({ registry, client, location, workspace })
  return { registry, client, location, directory, workspace, carried }
}

type SiteParts = Pick<LoadedSite, 'registry' | 'client' | 'location' | 'workspace'>

async function recordSampleLoad({ registry, client, location, workspace }: SiteParts): Promise<readonly Digest[]> {
  const images = ['sample/web:1', 'sample/tool:2'].map(async (name) => {
    const [repository = '', tag = ''] = name.split(':')
    const selected: SelectedImage = {
      source: { registry: registry.address, repository: `ocp/${repository}`, tag },
      destination: { registry: archiveTarget.registry, repository, tag },
      class: 'additional',
      why: 'asked for',
    }
    return resolveImage(selected, { source: client, signal: new AbortController().signal })
  })
  const resolved = (await Promise.all(images)).flat()
  const plan = planMirror(archiveTarget.registry, resolved, () => false)
  const front = composeFront({
    ...{ kind: 'full', sequence: 1, volumeBytes: 1024 * 1024, configuration: '' },
    ...{ images: resolved.map(archiveImage), plan: () => planLines(plan) },
    ...contentOf(plan, () => false),
  })
  const { registry: host, path } = parseMirrorTarget(location)
  await recordLoad(historyDirectories(workspace.state).loaded, {
    ...{ front, plan: planLines(plan), end: { volumes: 1, checksum: digestOf('end').slice('sha256:'.length) } },
    ...{ missing: [], recordedAt: '2026-11-21T00:00:00.000Z', loadedInto: `${host}/${path}` },
  })
  registry.requests.length = 0
  return front.blobs.map(({ digest }) => digest)
}
