/** The way of an archive over the gap, inside the test process: written from an upstream, repaired, loaded. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseImageSetConfiguration } from '../src/config/image-set-configuration.ts'
import type { RepairList } from '../src/archive/repair-list.ts'
import { type MirrorToDiskResult, mirrorToDisk } from '../src/flows/mirror-to-disk.ts'
import { type RepairResult, writeRepair } from '../src/flows/repair-archive.ts'
import { workspaceAt } from '../src/mirror/workspace.ts'
import { parseRegistriesConf } from '../src/registries/parse.ts'
import { withRegistriesConf } from '../src/remote/registries-conf-source.ts'
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
