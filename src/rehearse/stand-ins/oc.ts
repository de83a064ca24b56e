/** `oc` of the bootstrap host: what it asks a registry is asked for real; what it asks the API server is taken as granted. */
import { KnownError } from '../../errors/known-error.ts'
import { evaluateJsonPath, parseJsonPath } from '../../openshift/json-path.ts'
import type { StandInCall } from '../sandbox/sandbox.ts'
import type { Answer } from './answer.ts'
import type { ReadRelease, StandInWorld } from './world.ts'

export async function answerOc({ args }: StandInCall, world: StandInWorld): Promise<Answer> {
  if (args.includes('adm') && args.includes('release')) return releaseInfo(args, world)
  if (args.includes('image') && args.includes('info')) return releaseInfo(args, world)
  return { stdout: apiAnswer(args.join(' ')) }
}

/** `oc adm release info -o jsonpath=… [--icsp-file=F|--idms-file=F] REF` (openshift/oc `pkg/cli/admin/release/info.go`). */
async function releaseInfo(args: readonly string[], world: StandInWorld): Promise<Answer> {
  const reference = args.findLast((word) => word !== '' && !word.startsWith('-')) ?? ''
  const mirrorFile = optionIn(args, '--idms-file') ?? optionIn(args, '--icsp-file')
  const pull = await world.pullAsOc(reference, mirrorFile)
  if (pull.kind === 'failed')
    return {
      stderr: `error: unable to read image ${reference}: ${pull.endpoints.at(-1)?.message ?? pull.message}\n`,
      status: 1,
    }
  const release = await world.release()
  if (release instanceof KnownError) return { stderr: `error: ${release.message}\n`, status: 1 }
  const output = optionIn(args, '-o') ?? optionIn(args, '--output') ?? ''
  const path = output.replace(/^jsonpath=?/, '')
  if (path === '' || path === output) return { stdout: `${JSON.stringify(infoDocument(release))}\n` }
  const found = evaluateJsonPath(parseJsonPath(path), infoDocument(release))
  return { stdout: found.map(({ value }) => String(value)).join(' ') }
}

function infoDocument({ payload }: ReadRelease): object {
  const { version, components } = payload
  const versions = components.flatMap(({ annotations }) =>
    (annotations['io.openshift.build.versions'] ?? '').split(','),
  )
  const display = versions.filter((one) => one.includes('=')).map((one) => one.split('=') as [string, string])
  return {
    metadata: { version },
    displayVersions: Object.fromEntries(display.map(([name, value]) => [name, { Version: value }])),
  }
}

function optionIn(args: readonly string[], name: string): string | undefined {
  const inline = args.find((word) => word.startsWith(`${name}=`))
  if (inline !== undefined) return inline.slice(name.length + 1)
  const at = args.indexOf(name)
  return at < 0 ? undefined : args[at + 1]
}

/** What a cluster that comes up says to the questions of these scripts. */
function apiAnswer(command: string): string {
  if (command.includes('controlPlaneTopology')) return 'HighlyAvailable'
  if (/get kubeapiservers?\b/.test(command) && command.includes('currentRevision')) return 'master-0 master-1 master-2 '
  // Until 4.18 the addresses of the API servers were counted.
  if (/get (?:endpoints|ep|endpointslices?)\b/.test(command)) return '192.0.2.11 192.0.2.12 192.0.2.13'
  return ''
}
