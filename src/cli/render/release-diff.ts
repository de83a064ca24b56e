/** What an upgrade changes, for people and for programs. */
import { redact } from '../../errors/redact.ts'
import { formatReference } from '../../oci/reference.ts'
import type { ReleaseContents } from '../../release/release-contents.ts'
import type { ChangedComponent, ReleaseDiff, SourceChange } from '../../release/release-diff.ts'
import { count, formatBytes } from './quantities.ts'
import { shortDigest } from './release-info.ts'
import { problemLines } from './release-problems.ts'
import { tableLines } from './table.ts'

export interface DiffView {
  readonly one: ReleaseContents
  readonly other: ReleaseContents
  readonly diff: ReleaseDiff
}

export function renderReleaseDiff({ one, other, diff }: DiffView): string {
  const { added, removed, changed, unchanged } = diff
  const lines =
    one.digest === other.digest
      ? [`Both are the same release: ${one.version}, ${one.digest}`]
      : [
          `From ${one.version} to ${other.version}`,
          `  edge        ${edgeText(one, other, diff)}`,
          ...diff.versions.map(
            ({ name, from, to }) => `  ${name.padEnd(11)} ${from ?? 'not named'} -> ${to ?? 'not named'}`,
          ),
          `  components  ${changed.length} changed, ${added.length} new, ${removed.length} gone, ${unchanged} the same`,
          `  to move     ${costText(other, diff)}`,
          ...section('Changed', changed, changedCells),
          ...section('New', added, ({ to, source }) => [shortDigest(to ?? ''), sourceText(source)]),
          ...section('Gone', removed, ({ from, source }) => [shortDigest(from ?? ''), sourceText(source)]),
        ]
  const problems = [...problemsOf(one), ...problemsOf(other)]
  // What a payload says reaches a terminal here.
  return redact(`${[...lines, ...problems].join('\n')}\n`)
}

function problemsOf(contents: ReleaseContents): readonly string[] {
  const [gap, head, ...rest] = problemLines(contents)
  return head === undefined ? [] : [gap ?? '', `${contents.version}: ${head}`, ...rest]
}

function edgeText(one: ReleaseContents, other: ReleaseContents, { isEdge, isReverseEdge }: ReleaseDiff): string {
  if (isEdge) return `yes: ${other.version} can be upgraded to from ${one.version}`
  if (isReverseEdge) return `no, only back: ${one.version} can be upgraded to from ${other.version}`
  if (isEdge === undefined) return 'not known: the payloads name none; a channel may have it'
  return `no: ${one.version} is not among the releases that ${other.version} names; sallyport release path finds a way over others`
}

function costText(other: ReleaseContents, { newBytes, newBlobs, imageNewBytes, unknown }: ReleaseDiff): string {
  const total = other.image.bytes + other.components.reduce((sum, { image }) => sum + (image?.bytes ?? 0), 0)
  const least = unknown.length > 0 ? 'at least ' : ''
  const saved = total > 0 ? `, of images of ${formatBytes(total)}` : ''
  return `${least}${formatBytes(newBytes)} in ${count(newBlobs, 'blob')} that ${least ? 'as far as is known ' : ''}the first does not have${saved}; ${formatBytes(imageNewBytes)} of it is the release image`
}

function section(
  title: string,
  components: readonly ChangedComponent[],
  cells: (component: ChangedComponent) => readonly string[],
): readonly string[] {
  if (components.length === 0) return []
  const rows = components.map((component) => {
    const [digests = '', source = ''] = cells(component)
    return [component.name, digests, component.newBytes === undefined ? '' : formatBytes(component.newBytes), source]
  })
  const columns = [{ title: 'NAME' }, { title: 'DIGEST' }, { title: 'NEW', isRight: true }, { title: 'SOURCE' }]
  return ['', `${title}:`, ...tableLines(columns, rows)]
}

function changedCells({ from, to, source }: ChangedComponent): readonly string[] {
  return [`${shortDigest(from ?? '')} -> ${shortDigest(to ?? '').replace(/^sha256:/, '')}`, sourceText(source)]
}

/** A link to what changed, as GitHub shows it. */
function sourceText(source: SourceChange | undefined): string {
  if (!source) return ''
  const { repository, fromCommit, toCommit } = source
  const short = (commit: string) => commit.slice(0, 12)
  if (toCommit === undefined) return repository
  if (fromCommit === toCommit) return `${repository} rebuilt from ${short(toCommit)}`
  if (fromCommit === undefined) return `${repository}/commit/${short(toCommit)}`
  return `${repository}/compare/${short(fromCommit)}...${short(toCommit)}`
}

export function releaseDiffDocument({ one, other, diff }: DiffView): object {
  const named = ({ reference, digest, version }: ReleaseContents) => ({
    name: formatReference(reference),
    digest,
    version,
  })
  const problems = [one, other].flatMap(({ version, components }) =>
    components.flatMap(({ name, problem }) => (problem ? [{ version, component: name, ...problem }] : [])),
  )
  return { from: named(one), to: named(other), ...diff, ...(problems.length > 0 && { problems }) }
}
