/** What every stage is given: the site, the platform, and Sallyport itself as a program for each side of the gap. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SiteConfig } from '../../config/site-configuration.ts'
import { KnownError } from '../../errors/known-error.ts'
import { parsedFields } from '../../errors/parsed-json.ts'
import type { Clock } from '../../host/clock.ts'
import type { Env } from '../../host/env.ts'
import type { Log } from '../../host/log.ts'
import type { JsonRecord, Site } from '../../journal/events.ts'
import type { Lab } from '../../provision/lab/lab-provider.ts'
import type { Making, UndoRecord } from '../../provision/provider.ts'
import type { StepContext, UndoContext } from '../../workflow/step.ts'
import type { Scope } from './scopes.ts'

export interface StageParts {
  readonly site: SiteConfig
  /** Where `sallyport.yaml` stands: its paths are relative to it. */
  readonly directory: string
  /** The words that run Sallyport: the program of Node, and its main file. */
  readonly self: readonly string[]
  readonly clock: Clock
  readonly log: Log
  readonly env: Env
  readonly user: { readonly platform: string; readonly uid: number }
  /** The lab of a run; undefined on every other platform. */
  readonly openLab: ((context: Pick<StepContext, 'run' | 'directories'>) => Promise<Lab>) | undefined
  /** Bytes of the release that a lab mirrors: made out once, when a step first asks. undefined on every other platform. */
  readonly labBytes: (() => number) | undefined
}

/**
 * The lab of this run.
 *
 * @throws KnownError STAGE_UNAVAILABLE on a platform that Sallyport cannot make things on yet
 */
export function labOf(parts: StageParts, context: Pick<StepContext, 'run' | 'directories'>): Promise<Lab> {
  if (parts.openLab) return parts.openLab(context)
  throw new KnownError('STAGE_UNAVAILABLE', 'This platform has no provider yet')
}

/** Records of a provider as the journal has them. */
export function makingOf(context: StepContext, scope: Scope): Making {
  return {
    signal: context.signal,
    record: ({ kind, ...values }: UndoRecord) => context.record({ kind, scope, values }),
  }
}

/** Files of a run that are not the journal's: content under way, what was rendered. They go with the lab. */
export function workFolder(context: Pick<UndoContext, 'directories'>, name: string): string {
  return join(context.directories.run, 'work', name)
}

/** What leads out, and whom to trust: of a real machine on the connected side. */
const connectedVariables =
  /^(?:https?_proxy|no_proxy|SSL_CERT_FILE|REGISTRY_AUTH_FILE|CONTAINERS_REGISTRIES_CONF|UPDATE_URL_OVERRIDE|OCP_SIGNATURE_URL|OCP_SIGNATURE_VERIFICATION_PK)$/i

/** On the other side no proxy and no registries.conf of this machine decides what is found. */
const insideVariables = /^(?:SSL_CERT_FILE|OCP_SIGNATURE_VERIFICATION_PK)$/

/** The environment of a program on one side: of this machine only what a program cannot do without, and what that side is. */
function envOn(parts: StageParts, context: StepContext, where: Site): Readonly<Record<string, string | undefined>> {
  const { env } = parts
  const own = { PATH: env['PATH'], HOME: context.directories.state, TMPDIR: env['TMPDIR'], LC_ALL: 'C.UTF-8' }
  if (parts.openLab !== undefined) return own
  const kept = where === 'connected' ? connectedVariables : insideVariables
  const named = Object.entries(env).filter(([name]) => kept.test(name))
  return { ...own, ...Object.fromEntries(named) }
}

export interface SelfCommand {
  readonly where: Site
  readonly words: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Exit statuses that are an answer. Default: 0 alone. */
  readonly allowed?: readonly number[]
}

/**
 * Runs a command of Sallyport on one side of the gap, and gives what it answers.
 *
 * @throws KnownError what the command ended with
 */
export async function runSallyport(
  parts: StageParts,
  context: StepContext,
  { where, words, env = {}, allowed = [0] }: SelfCommand,
): Promise<JsonRecord> {
  const answerFile = join(context.directories.state, 'answer.json')
  const argv = [...parts.self, '--json', ...words]
  context.print(`$ sallyport ${words.join(' ')}\n`)
  // Results and progress are two streams, and the log gets the second alone.
  const withAnswer = ['/bin/sh', '-c', 'exec "$@" >"$0"', answerFile, ...argv]
  const command = parts.openLab ? (await parts.openLab(context)).command(where, withAnswer) : withAnswer
  const end = await context.exec({ argv: command, env: { ...envOn(parts, context, where), ...env } })
  context.signal.throwIfAborted()
  const answer = readAnswer(await readFile(answerFile, 'utf8').catch(() => ''))
  if (end.status !== undefined && allowed.includes(end.status)) return answer ?? {}
  throw failureOf(answer, words[0] ?? '', end.status ?? end.signal ?? 'nothing')
}

function readAnswer(text: string): JsonRecord | undefined {
  return parsedFields(text) as JsonRecord | undefined
}

/** What commands answer with where they fail: an error, findings, or images that failed, each with its error. */
interface Failure {
  readonly message?: string
  readonly summary?: string
  readonly hint?: string
  readonly remedy?: string
  readonly severity?: string
  readonly error?: Failure
}

function failureOf(answer: JsonRecord | undefined, command: string, end: number | string): KnownError {
  const {
    error,
    findings = [],
    failures = [],
  } = (Array.isArray(answer) ? { findings: answer.flatMap(findingsIn) } : (answer ?? {})) as {
    readonly error?: Failure
    readonly findings?: readonly Failure[]
    readonly failures?: readonly Failure[]
  }
  const all = [error, ...findings.filter(({ severity }) => severity === 'error'), ...failures]
  const known = all.flatMap((one) => (one === undefined ? [] : [one.error ?? one]))
  const [first] = known
  const more = known.length > 1 ? ` (and ${known.length - 1} more)` : ''
  const message = first?.message ?? first?.summary
  const hint = first?.hint ?? first?.remedy
  return new KnownError(
    'STEP_FAILED',
    message === undefined ? `sallyport ${command} ended with ${end}` : `${message}${more}`,
    {
      ...(hint !== undefined && { hint }),
    },
  )
}

/** Of archives each is told of by itself. */
function findingsIn({ findings = [] }: { readonly findings?: readonly Failure[] }): readonly Failure[] {
  return findings
}

/** `host:port`; 443 where none is said. */
export function splitHost(registry: string): { readonly host: string; readonly port: number } {
  const colon = registry.lastIndexOf(':')
  return colon < 0
    ? { host: registry, port: 443 }
    : { host: registry.slice(0, colon), port: Number(registry.slice(colon + 1)) }
}
