import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'

/** Where something stands in a file; line and column count from 1. */
export type Place = Required<NonNullable<Finding['where']>>

/** Everything that is wrong with a file, in one error. */
export class InvalidConfiguration extends KnownError {
  /** In the order of the file. */
  readonly findings: readonly Finding[]

  constructor(findings: readonly Finding[], { hint }: { readonly hint?: string } = {}) {
    const inOrder = inFileOrder(findings)
    const where = inOrder[0]?.where
    super('CONFIG_INVALID', inOrder.map(findingLine).join('\n'), {
      ...(hint !== undefined && { hint }),
      details: { findings: inOrder.length, file: where?.file, line: where?.line, column: where?.column },
    })
    this.findings = inOrder
  }
}

export function inFileOrder<Part extends Finding>(findings: readonly Part[]): Part[] {
  return findings.toSorted(
    (a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0) || (a.where?.column ?? 0) - (b.where?.column ?? 0),
  )
}

/** `FILE:LINE:COLUMN: SUMMARY; REMEDY`, as compilers print and editors understand. */
export function findingLine({ summary, remedy, where }: Finding): string {
  const place = where ? `${where.file}:${where.line ?? 1}:${where.column ?? 1}: ` : ''
  return `${place}${summary}${remedy === undefined ? '' : `; ${remedy}`}`
}

/** A finding of severity `error` at a place, on one line whatever is quoted in it. */
export function configError(id: string, summary: string, where: Place): Finding {
  return finding({ id, severity: 'error', summary: summary.replaceAll(/[\r\n]+/g, ' '), where })
}
