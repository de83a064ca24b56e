/** What a patch did, for people and as a document. */
import type { Finding } from '../../errors/finding.ts'
import type { PatchOutcome } from '../../flows/patch-ignition.ts'
import { renderFindings } from './findings.ts'
import { count } from './quantities.ts'
import { tableLines } from './table.ts'

export interface PatchView {
  readonly config: string
  readonly outcome: PatchOutcome
  /** What was written, in this order; empty where nothing was asked for, or an error kept it from being written. */
  readonly written: readonly WrittenFile[]
}

export interface WrittenFile {
  readonly what: 'patched config' | 'undo' | 'overlay' | 'parent' | 'MachineConfig'
  readonly path: string
}

export function renderPatch({ config, outcome, written }: PatchView): string {
  const { effects, findings, secrets } = outcome
  const isRefused = hasErrors(findings)
  const changed = effects.filter(({ effect }) => effect !== 'unchanged').length
  const verdict = isRefused
    ? `refused: ${config} is as it was; nothing was written\n`
    : `${changed === 0 ? 'nothing to change' : count(changed, 'change')} in ${config}${written.length === 0 ? '; nothing was written: name a file with -o' : ''}\n`
  const changes = tableLines(
    [{ title: '' }, { title: '' }, { title: '' }],
    effects.map(({ kind, name, effect }) => [effect, kind, name]),
  ).slice(1)
  const files = written.map(({ what, path }) => `${what}: ${path}\n`)
  const secret =
    secrets.length > 0 && written.some(({ what }) => what === 'undo')
      ? [`the undo holds secrets, of ${secrets.join(', ')}: only its owner may read it\n`]
      : []
  const told = findings.length > 0 ? [`\n${renderFindings(findings)}`] : []
  return [verdict, ...changes.map((line) => `${line}\n`), ...files, ...secret, ...told].join('')
}

export function patchDocument({ config, outcome, written }: PatchView): object {
  const { effects, secrets, findings } = outcome
  return { config, isRefused: hasErrors(findings), effects, written, secretsInUndo: secrets, findings }
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'error')
}
