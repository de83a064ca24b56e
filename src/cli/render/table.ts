/** Columns as wide as what is in them, two spaces apart; the last one is not padded. */
export interface Column {
  readonly title: string
  /** Numbers stand at the right. */
  readonly isRight?: boolean
}

/** @param indent before every line */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = '  ',
): readonly string[] {
  const all = [columns.map(({ title }) => title), ...rows]
  const widths = columns.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)))
  return all.map((row) => {
    const cells = columns.map(({ isRight }, index) => {
      const text = row[index] ?? ''
      const width = widths[index] ?? 0
      return isRight ? text.padStart(width) : text.padEnd(width)
    })
    return `${indent}${cells.join('  ')}`.trimEnd()
  })
}
