/** A mirror run in a process of its own, with chunks so small that a test can cut them: `node mirror-child.ts JSON`. */
import { readFile } from 'node:fs/promises'
import { parseImageSetConfiguration } from '../src/config/image-set-configuration.ts'
import { mirrorToMirror } from '../src/flows/mirror-to-mirror.ts'
import { systemClock } from '../src/host/clock.ts'
import { createLog } from '../src/host/log.ts'
import { parseMirrorTarget } from '../src/mirror/destination.ts'
import { workspaceAt } from '../src/mirror/workspace.ts'
import { parseRegistriesConf } from '../src/registries/parse.ts'
import { createRegistryClient } from '../src/remote/client.ts'
import { noCredentials } from '../src/remote/credentials.ts'
import { withRegistriesConf } from '../src/remote/registries-conf-source.ts'

interface ChildOptions {
  readonly config: string
  readonly target: string
  readonly workspace: string
  readonly registriesConf: string
  readonly chunkBytes: number
  readonly concurrency: number
}

const options = JSON.parse(process.argv[2] ?? '') as ChildOptions
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
const { exitStatus, failures } = await mirrorToMirror({
  config: parseImageSetConfiguration({ file: 'isc.yaml', text: options.config }),
  target: parseMirrorTarget(options.target),
  workspace: workspaceAt(options.workspace, '/'),
  source: withRegistriesConf(client, conf),
  registry: client,
  signal: new AbortController().signal,
  onEvent: () => undefined,
  concurrency: options.concurrency,
})
for (const { error } of failures) process.stderr.write(`${error.code} ${error.message}\n`)
client.close()
process.exitCode = exitStatus
