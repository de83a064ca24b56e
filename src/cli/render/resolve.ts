import type { KnownError } from '../../errors/known-error.ts'
import { formatReference } from '../../oci/reference.ts'
import type { Endpoint, Resolution } from '../../registries/resolve.ts'

/** What became of one image that was asked for. */
export interface Outcome {
  readonly asked: string
  /** True where at least one endpoint is left to try. */
  readonly usable: boolean
  readonly note: string | undefined
  readonly resolution?: Resolution
  readonly error?: KnownError
}

/** What `--json` prints. References are text. */
export function resolutionDocument(outcomes: readonly Outcome[], files: readonly string[]): object {
  return { files, images: outcomes.map(outcomeDocument) }
}

export function outcomeDocument({ asked, usable, note, resolution, error }: Outcome): object {
  return {
    reference: asked,
    usable,
    ...(note !== undefined && { note }),
    ...(resolution !== undefined && {
      pulledAs: formatReference(resolution.reference),
      matchedPrefix: resolution.matchedPrefix,
      endpoints: resolution.endpoints.map((endpoint) => ({
        ...endpoint,
        reference: formatReference(endpoint.reference),
      })),
      skipped: resolution.skipped,
    }),
    ...(error !== undefined && {
      error: { code: error.code, message: error.message, hint: error.hint, details: error.details },
    }),
  }
}

export function renderOutcomes(outcomes: readonly Outcome[], files: readonly string[]): string {
  const read =
    files.length === 0 ? 'no registries.conf: every image is read from where its name says' : `read ${files.join(', ')}`
  return `${[...outcomes.map(renderOutcome), read].join('\n\n')}\n`
}

function renderOutcome(outcome: Outcome): string {
  return [outcome.asked, ...outcomeLines(outcome)].join('\n')
}

/** What is tried, without the image that was asked for. */
export function outcomeLines({ usable, note, resolution, error }: Outcome): readonly string[] {
  const lines: string[] = []
  if (note !== undefined) lines.push(`  note: ${note}`)
  if (resolution !== undefined) lines.push(...renderResolution(resolution))
  if (error !== undefined) lines.push(`  error ${error.code}: ${error.message}`, `  next: ${error.hint}`)
  else if (!usable) lines.push('  no endpoint is left: a node cannot pull this image')
  return lines
}

function renderResolution({ endpoints, skipped }: Resolution): readonly string[] {
  return [
    ...endpoints.flatMap((endpoint, index) =>
      row(`${index + 1}`, stateOf(endpoint), [formatReference(endpoint.reference), whyOf(endpoint)]),
    ),
    ...skipped.flatMap(({ location, why }) => row('-', 'unused', [location, why])),
  ]
}

function stateOf({ blockedBy }: Endpoint): string {
  return blockedBy === undefined ? 'try' : 'blocked'
}

function whyOf({ insecure, why }: Endpoint): string {
  return insecure ? `${why}; insecure: plain HTTP and any certificate are accepted` : why
}

function row(number: string, state: string, [place, why]: readonly [string, string]): readonly string[] {
  const indent = 15
  return [`  ${number.padStart(2)}  ${state.padEnd(indent - 6)}${place}`, `${' '.repeat(indent)}${why}`]
}
