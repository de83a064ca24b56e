/** Components of a release that are missing, or are not whole, for people. */
import type { ReleaseContents } from '../../release/release-contents.ts'
import { count } from './quantities.ts'

/** More than a screen holds are counted. */
const shown = 12

/** Nothing where each could be; grouped by what is wrong. */
export function problemLines({ components }: Pick<ReleaseContents, 'components'>): readonly string[] {
  const problems = components.flatMap(({ name, problem }) => (problem ? [{ name, ...problem }] : []))
  if (problems.length === 0) return []
  const groups = Map.groupBy(problems, ({ code, hint }) => `${code}\n${hint}`)
  return [
    '',
    `${problems.length} of ${count(components.length, 'component')} could not be had whole:`,
    ...[...groups.values()].flatMap((group) => {
      const [first] = group
      const messages = [...new Set(group.map(({ message }) => message))]
      const more = messages.length > shown ? [`  and ${messages.length - shown} more (--json lists them all)`] : []
      return [
        ...messages.slice(0, shown).map((message) => `  ${first?.code}: ${message}`),
        ...more,
        `  next: ${first?.hint}`,
      ]
    }),
  ]
}
