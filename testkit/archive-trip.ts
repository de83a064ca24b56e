/** The way of an archive over the gap, inside the test process: written from an upstream, repaired, loaded. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RepairList } from '../src/archive/repair/repair-list.ts'
import { parseImageSetConfiguration } from '../src/config/image-set-configuration.ts'
import { type ArchiveLoad, diskToMirror } from '../src/flows/disk-to-mirror.ts'
import { type MirrorToDiskResult, mirrorToDisk } from '../src/flows/mirror-to-disk.ts'
import { type RepairResult, writeRepair } from '../src/flows/repair-archive.ts'
import { parseMirrorTarget } from '../src/mirror/destination.ts'
import { type Workspace, workspaceAt } from '../src/mirror/workspace.ts'
import { parseRegistriesConf } from '../src/registries/parse.ts'
import type { RunningRegistry } from '../src/registry/server.ts'
import { withRegistriesConf } from '../src/remote/registries-conf-source.ts'
import { startEmbeddedRegistry } from './embedded-registry.ts'
import { FakeClock } from './fake-clock.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'
import { testClient } from './test-client.ts'
import { imageSetText, releaseName, startUpstream, type Upstream } from './upstream.ts'

export interface ConnectedSide {
  readonly upstream: Upstream
  /** What is asked for: everything that the upstream has. */
  readonly configuration: string
  /** Writes an archive. */
  mirror(directory: string, volumeBytes: number): Promise<MirrorToDiskResult>
  /** Answers a repair list. */
  repair(directory: string, list: RepairList): Promise<RepairResult>
}

export async function connectedSide(t: Cleanup): Promise<ConnectedSide> {
  const upstream = await startUpstream(t)
  const configuration = imageSetText({ release: releaseName(upstream.release), additional: upstream.additional })
  const conf = parseRegistriesConf(await readFile(upstream.registriesConf, 'utf8'), 'registries.conf')
  const source = withRegistriesConf(testClient(t).client, conf)
  const workspace = workspaceAt(join(await tempDir(t), 'workspace'), '/')
  const common = { workspace, source, signal: new AbortController().signal, onEvent: () => undefined }
  return {
    upstream,
    configuration,
    mirror: (directory, volumeBytes) =>
      mirrorToDisk({
        ...common,
        ...{ directory, configuration, volumeBytes, base: {}, clock: new FakeClock() },
        config: parseImageSetConfiguration({ file: 'isc.yaml', text: configuration }),
      }),
    repair: (directory, list) => writeRepair({ ...common, directory, list }),
  }
}

export interface ClosedSide {
  readonly registry: RunningRegistry
  readonly workspace: Workspace
  /** Loads what is in a directory, into an empty registry and workspace. */
  load(directory: string): Promise<readonly ArchiveLoad[]>
}

export async function closedSide(t: Cleanup): Promise<ClosedSide> {
  const registry = await startEmbeddedRegistry(t)
  const { client } = testClient(t)
  const workspace = workspaceAt(join(await tempDir(t), 'workspace'), '/')
  return {
    registry,
    workspace,
    load: (directory) =>
      diskToMirror({
        directory,
        workspace,
        registry: client,
        target: parseMirrorTarget(`docker://${registry.address}/closed`),
        clock: new FakeClock(),
        signal: new AbortController().signal,
        onEvent: () => undefined,
      }),
  }
}
