/** A mirror run inside the test process: the flow itself, with a client whose waits cost nothing. */
import { readFile } from 'node:fs/promises'
import { parseImageSetConfiguration } from '../src/config/image-set-configuration.ts'
import { type MirrorRequest, type MirrorResult, mirrorToMirror } from '../src/flows/mirror-to-mirror.ts'
import { parseMirrorTarget } from '../src/mirror/destination.ts'
import type { MirrorEvent } from '../src/mirror/events.ts'
import { workspaceAt } from '../src/mirror/workspace.ts'
import { parseRegistriesConf } from '../src/registries/parse.ts'
import type { RegistryClientOptions } from '../src/remote/client.ts'
import { withRegistriesConf } from '../src/remote/registries-conf-source.ts'
import type { Cleanup } from './temp-dir.ts'
import { testClient } from './test-client.ts'

export interface MirrorRunOptions {
  /** Text of an ImageSetConfiguration. */
  readonly config: string
  /** `docker://HOST[:PORT]/PATH` */
  readonly target: string
  /** Directory of the workspace. */
  readonly workspace: string
  /** Path of a registries.conf. */
  readonly registriesConf: string
  readonly client?: Partial<RegistryClientOptions>
  readonly request?: Partial<Pick<MirrorRequest, 'isDryRun' | 'icsp' | 'concurrency' | 'signal'>>
}

export interface MirrorRun extends MirrorResult {
  readonly events: readonly MirrorEvent[]
  /** Every line that was logged, at every level. */
  readonly lines: readonly string[]
}

export async function runMirror(t: Cleanup, options: MirrorRunOptions): Promise<MirrorRun> {
  const { client, lines } = testClient(t, options.client)
  const conf = parseRegistriesConf(await readFile(options.registriesConf, 'utf8'), 'registries.conf')
  const events: MirrorEvent[] = []
  const result = await mirrorToMirror({
    config: parseImageSetConfiguration({ file: 'isc.yaml', text: options.config }),
    target: parseMirrorTarget(options.target),
    workspace: workspaceAt(options.workspace, '/'),
    source: withRegistriesConf(client, conf),
    registry: client,
    signal: new AbortController().signal,
    onEvent: (event) => void events.push(event),
    ...options.request,
  })
  return { ...result, events, lines }
}
