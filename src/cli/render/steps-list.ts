/** The parts of a step registry, a line each. */
import type { Registered, RegistryKind } from '../../workflow/step-registry/registry.ts'
import { count } from './quantities.ts'
import { tableLines } from './table.ts'

interface ListedPart {
  readonly kind: RegistryKind
  readonly part: Registered
}

const shownDocumentation = 80

export function renderStepsList(parts: readonly ListedPart[]): string {
  if (parts.length === 0) return 'nothing of that name\n'
  const rows = parts.map(({ kind, part: { name, documentation = '' } }) => [kind, name, firstLine(documentation)])
  const lines = tableLines([{ title: 'KIND' }, { title: 'NAME' }, { title: 'DOCUMENTATION' }], rows, '')
  return `${lines.join('\n')}\n\n${count(parts.length, 'part')}\n`
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n')
  return line.length > shownDocumentation ? `${line.slice(0, shownDocumentation - 1)}…` : line
}
