/**
 * What a run is made from: kept in its directory, so that it can be gone on with, and taken down, from there alone.
 *
 * A kind of workflow is one entry of `kinds`.
 */
import { readFile } from 'node:fs/promises'
import type { Finding } from '../errors/finding.ts'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { parsedFields } from '../errors/parsed-json.ts'
import type { Clock } from '../host/clock.ts'
import type { Env } from '../host/env.ts'
import type { Log } from '../host/log.ts'
import type { Json } from '../journal/events.ts'
import { ifThere } from '../store/presence.ts'
import { writeFlushed } from '../store/staged-write.ts'
import type { SessionAim } from '../workflow/aimed-steps.ts'
import { canonicalJson } from '../workflow/input-digest.ts'
import type { RunDirectory } from '../workflow/run-directory.ts'
import type { SecretLookup } from '../workflow/secret-store.ts'
import type { Workflow } from '../workflow/workflow.ts'
import { type RegistryDefinition, registryKind } from './run-definition-registry.ts'
import { type SiteDefinition, siteKind } from './run-definition-site.ts'

/** Plain JSON, all of it. Never a secret. */
export type RunDefinition = RegistryDefinition | SiteDefinition

/** The value of a parameter of a step, and who decided it. */
export interface RunParameter {
  readonly name: string
  /** undefined: nobody gives a value. */
  readonly value: string | undefined
  /** `workflow ipi-aws`, `default of the step`, `sallyport.yaml line 12`. */
  readonly by: string
}

/** A definition, opened. */
export interface OpenedDefinition {
  readonly workflow: Workflow
  /** As it is now, to be kept in the place of the one before. */
  readonly definition: RunDefinition
  /** `copy`: what it was made from is not there any more. */
  readonly from: 'source' | 'copy'
  readonly secrets: SecretLookup
  /** Whether its user is to be asked, where the workflow itself takes nothing down. */
  readonly asksTeardown: boolean
  /** What is known to be missing; of severity error, a step that is asked for would fail for it. */
  readonly preflight: (aim?: SessionAim) => Promise<readonly Finding[]>
  /** Of the step with this id. */
  readonly parameters: (step: string) => readonly RunParameter[]
}

/** What a kind of workflow has to know. */
export interface DefinitionKind<Definition> {
  /** What two runs must have in common to be the same thing, begun twice. */
  identity(definition: Definition): Json
  /**
   * From the source; from what was kept where that is gone, or where `isCopyWanted`.
   *
   * @throws KnownError for a source that is there and broken
   */
  open(definition: Definition, host: OpenHost, options: OpenOptions): Promise<OpenedDefinition>
}

export interface OpenOptions {
  readonly isCopyWanted?: boolean
}

/** Of this machine. */
export interface OpenHost {
  readonly env: Env
  readonly clock: Clock
  readonly log: Log
  /** The words that run Sallyport: the program of Node, and its main file. */
  readonly self: readonly string[]
  readonly user: { readonly platform: string; readonly uid: number }
}

const kinds: { readonly [Kind in RunDefinition['kind']]: DefinitionKind<RunDefinition & { kind: Kind }> } = {
  registry: registryKind,
  disconnected: siteKind,
}

/** The table has the kind of each definition under its own name, which the types cannot say of a union. */
function kindOf({ kind }: RunDefinition): DefinitionKind<RunDefinition> {
  return kinds[kind] as unknown as DefinitionKind<RunDefinition>
}

/** @throws KnownError for a source that is there and broken */
export function openDefinition(
  definition: RunDefinition,
  host: OpenHost,
  options: OpenOptions = {},
): Promise<OpenedDefinition> {
  return kindOf(definition).open(definition, host, options)
}

/** True for two runs of the same thing, whatever became of its files in between. */
export function isSameDefinition(one: RunDefinition, other: RunDefinition): boolean {
  const identityOf = (definition: RunDefinition) =>
    canonicalJson([definition.kind, kindOf(definition).identity(definition)])
  return identityOf(one) === identityOf(other)
}

/** To be called before the first event of the run. What is there already needs no space: a teardown is what may make some. */
export async function writeDefinition({ definition: path }: RunDirectory, definition: RunDefinition): Promise<void> {
  const text = `${JSON.stringify({ format: 1, ...definition })}\n`
  if ((await ifThere(readFile(path, 'utf8'))) === text) return
  await writeFlushed(path, text, 0o600)
}

/** @throws KnownError RUN_UNKNOWN where there is none, JOURNAL_CORRUPT, JOURNAL_NEWER */
export async function readDefinition({ definition: path, id }: RunDirectory): Promise<RunDefinition> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasSystemCode(error, 'EACCES')) {
      throw new KnownError('FILE_UNREADABLE', `${path} cannot be read`, { details: { file: path }, cause: error })
    }
    if (!hasSystemCode(error, 'ENOENT', 'ENOTDIR')) throw error
    throw new KnownError('RUN_UNKNOWN', `${path} is not there: nobody can say what ${id} was made from`, {
      cause: error,
    })
  })
  const value = parsedFields(text)
  if (value === undefined) throw new KnownError('JOURNAL_CORRUPT', `${path} is not what a run is made from`)
  const { format, kind } = value
  if (format !== 1 || typeof kind !== 'string' || !Object.hasOwn(kinds, kind)) {
    throw new KnownError('JOURNAL_NEWER', `${path} has format ${String(format)}, kind ${String(kind)}`)
  }
  const { format: _, ...definition } = value
  return definition as unknown as RunDefinition
}
