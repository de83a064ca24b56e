/**
 * A mirror run in a process of its own, with chunks so small that a test can cut them: `node mirror-child.ts JSON`.
 *
 * Registry to registry; with `disk` to a directory, or with `from` from it.
 */
import { readFile } from 'node:fs/promises'
import { parseImageSetConfiguration } from '../src/config/image-set-configuration.ts'
import { diskToMirror } from '../src/flows/disk-to-mirror.ts'
import { mirrorToDisk } from '../src/flows/mirror-to-disk.ts'
import { mirrorToMirror } from '../src/flows/mirror-to-mirror.ts'
import { systemClock } from '../src/host/clock.ts'
import { createLog } from '../src/host/log.ts'
import { parseMirrorTarget } from '../src/mirror/destination.ts'
import type { FailedImage } from '../src/mirror/failures.ts'
import { workspaceAt } from '../src/mirror/workspace.ts'
import { parseRegistriesConf } from '../src/registries/parse.ts'
import { createRegistryClient } from '../src/remote/client.ts'
import { noCredentials } from '../src/remote/credentials.ts'
import { withRegistriesConf } from '../src/remote/registries-conf-source.ts'

export interface MirrorChildOptions {
  readonly config: string
  /** `docker://HOST/PATH`; not asked for with `disk`. */
  readonly target: string
  readonly workspace: string
  readonly registriesConf: string
  readonly chunkBytes: number
  readonly concurrency: number
  /** Write an archive here. */
  readonly disk?: { readonly directory: string; readonly volumeBytes: number }
  /** Load the archives of this directory. */
  readonly from?: string
}

interface Outcome {
  readonly exitStatus: number
  readonly failures: readonly FailedImage[]
}

async function run(options: MirrorChildOptions): Promise<readonly Outcome[]> {
  const client = createRegistryClient({
    clock: systemClock,
    log: createLog('error', (line) => void process.stderr.write(`${line}\n`)),
    credentials: noCredentials,
    tls: { certsDirs: [] },
    proxies: { noProxy: '' },
    isInsecure: () => true,
    limits: { monolithicBytes: options.chunkBytes, chunkBytes: options.chunkBytes, retries: { firstDelayMs: 50 } },
  })
  const conf = parseRegistriesConf(await readFile(options.registriesConf, 'utf8'), 'registries.conf')
  const source = withRegistriesConf(client, conf)
  const config = parseImageSetConfiguration({ file: 'isc.yaml', text: options.config })
  const common = {
    workspace: workspaceAt(options.workspace, '/'),
    signal: new AbortController().signal,
    onEvent: () => undefined,
    concurrency: options.concurrency,
    clock: systemClock,
  }
  const target = parseMirrorTarget(options.target)
  try {
    const { disk, from } = options
    if (disk)
      return [await mirrorToDisk({ ...common, ...disk, config, configuration: options.config, source, base: {} })]
    if (from === undefined) return [await mirrorToMirror({ ...common, config, target, source, registry: client })]
    const loads = await diskToMirror({ ...common, directory: from, target, registry: client })
    return loads.map(({ result }) => result)
  } finally {
    client.close()
  }
}

for (const { exitStatus, failures } of await run(JSON.parse(process.argv[2] ?? '') as MirrorChildOptions)) {
  for (const { error } of failures) process.stderr.write(`${error.code} ${error.message}\n`)
  process.exitCode = exitStatus
}
