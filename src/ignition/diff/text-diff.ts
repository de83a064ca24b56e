/**
 * What differs between two texts, line by line, with the fewest lines that have to go or come.
 *
 * Source: E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), figure 2.
 */

interface Step {
  readonly sign: ' ' | '-' | '+'
  readonly line: string
}

/** Texts that differ in more lines have little in common: one is told after the other. */
const maxEdits = 1500
const contextLines = 3
const missingEnd = '\\ No newline at end of file'

/** @returns the lines of a unified diff without its two first ones; none where the texts are the same */
export function unifiedDiff(before: string, after: string): readonly string[] {
  if (before === after) return []
  return hunks(stepsBetween(linesOf(before), linesOf(after)))
}

/** The missing line end of a last line belongs to it. */
function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  return last === '' ? lines : [...lines, `${last}\n${missingEnd}`]
}

/** How one list of lines becomes the other. */
export function stepsBetween(before: readonly string[], after: readonly string[]): readonly Step[] {
  const shorter = Math.min(before.length, after.length)
  const head = firstIndex(shorter, (index) => before[index] !== after[index])
  const tail = firstIndex(shorter - head, (index) => before.at(-1 - index) !== after.at(-1 - index))
  const [old, own] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)]
  return [
    ...before.slice(0, head).map(kept),
    ...(shortest(old, own) ?? [...old.map(removed), ...own.map(added)]),
    ...before.slice(before.length - tail).map(kept),
  ]
}

function firstIndex(count: number, isFound: (index: number) => boolean): number {
  for (let index = 0; index < count; index += 1) if (isFound(index)) return index
  return count
}

const kept = (line: string): Step => ({ sign: ' ', line })
const removed = (line: string): Step => ({ sign: '-', line })
const added = (line: string): Step => ({ sign: '+', line })

/** Undefined where more than `maxEdits` lines differ. */
function shortest(before: readonly string[], after: readonly string[]): readonly Step[] | undefined {
  // How far one gets on each diagonal, for every number of edits: diagonal k is where x - y = k.
  const reach: Map<number, number>[] = []
  const limit = Math.min(before.length + after.length, maxEdits)
  for (let edits = 0; edits <= limit; edits += 1) {
    const last = reach.at(-1)
    const now = new Map<number, number>()
    for (let k = -edits; k <= edits; k += 2) {
      let x = last ? Math.max((last.get(k - 1) ?? -1) + 1, last.get(k + 1) ?? -1) : 0
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1
      now.set(k, x)
    }
    reach.push(now)
    if ((now.get(before.length - after.length) ?? -1) >= before.length) return traced(before, after, reach)
  }
  return undefined
}

/** Back from the end to the beginning. */
function traced(
  before: readonly string[],
  after: readonly string[],
  reach: readonly ReadonlyMap<number, number>[],
): readonly Step[] {
  const steps: Step[] = []
  let [x, y] = [before.length, after.length]
  for (let edits = reach.length - 1; edits >= 0; edits -= 1) {
    const last = reach[edits - 1]
    const k = x - y
    const isAdded = last !== undefined && (last.get(k + 1) ?? -1) > (last.get(k - 1) ?? -1)
    const start = last === undefined ? 0 : isAdded ? (last.get(k + 1) ?? 0) : (last.get(k - 1) ?? 0) + 1
    for (; x > start; x -= 1, y -= 1) steps.push(kept(before[x - 1] ?? ''))
    if (last === undefined) break
    if (isAdded) steps.push(added(after[--y] ?? ''))
    else steps.push(removed(before[--x] ?? ''))
  }
  return steps.reverse()
}

/** What differs, with a few lines around it. */
function hunks(steps: readonly Step[]): readonly string[] {
  const isNear = steps.map(() => false)
  for (const [index, { sign }] of steps.entries())
    if (sign !== ' ') isNear.fill(true, Math.max(0, index - contextLines), index + contextLines + 1)
  const lines: string[] = []
  const at = { old: 0, own: 0 }
  for (let index = 0; index < steps.length; ) {
    let end = index
    while (end < steps.length && isNear[end] === isNear[index]) end += 1
    const part = steps.slice(index, end)
    const [old, own] = [part.filter(({ sign }) => sign !== '+').length, part.filter(({ sign }) => sign !== '-').length]
    if (isNear[index]) lines.push(`@@ -${range(at.old, old)} +${range(at.own, own)} @@`, ...part.flatMap(written))
    at.old += old
    at.own += own
    index = end
  }
  return lines
}

/** `from,count`; a line alone without its count, and of none the line before. */
function range(start: number, count: number): string {
  if (count === 0) return `${start},0`
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`
}

function written({ sign, line }: Step): readonly string[] {
  return `${sign}${line}`.split('\n')
}
