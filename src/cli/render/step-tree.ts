/** Steps as a tree: a group is named where it begins. */

interface TreeStep {
  readonly step: string
  readonly phase: string
  readonly groups: readonly string[]
}

interface TreeParts<Step> {
  /** What stands before the name, as wide as all others. */
  readonly mark: (step: Step) => string
  readonly facts: (step: Step) => string
  /** Lines of their own, under the step. */
  readonly below?: (step: Step) => readonly string[]
}

export function treeLines<Step extends TreeStep>(steps: readonly Step[], parts: TreeParts<Step>): readonly string[] {
  const width = Math.max(...steps.map((step) => 2 * pathOf(step).length + nameOf(step).length), 0)
  const lines: string[] = []
  let before: readonly string[] = []
  for (const step of steps) {
    const path = pathOf(step)
    const mark = parts.mark(step)
    const indent = ' '.repeat(mark.length)
    const differs = path.findIndex((group, index) => before[index] !== group)
    const shared = differs < 0 ? path.length : differs
    for (const [index, group] of path.entries()) {
      if (index >= shared) lines.push(`  ${indent} ${'  '.repeat(index)}${group}`)
    }
    before = path
    const name = `${'  '.repeat(path.length)}${nameOf(step)}`.padEnd(width)
    lines.push(`  ${mark} ${name}  ${parts.facts(step)}`.trimEnd())
    for (const line of parts.below?.(step) ?? []) lines.push(`  ${indent} ${'  '.repeat(path.length + 1)}${line}`)
  }
  return lines
}

/** Phases are told apart where names are: in the workflows of a step registry. */
function pathOf({ step, phase, groups }: TreeStep): readonly string[] {
  return step.startsWith(`${phase}/`) ? [phase, ...groups] : groups
}

/** Without what its groups say already. */
function nameOf({ step, phase, groups }: TreeStep): string {
  const prefixes = [`${phase}/`, `${groups.join('/')}/`]
  const prefix = prefixes.find((each) => step.startsWith(each)) ?? ''
  return step.slice(prefix.length)
}
