/** What a deletion would do, and what it did, for people and as JSON. */
import type { GeneratedDeletion } from '../../flows/delete-generate.ts'
import type { ListedDeletion } from '../../flows/delete-listed.ts'
import type { FailedDeletion } from '../../flows/delete-selection.ts'
import type { ListedImage } from '../../mirror/listed-image.ts'
import type { Fate } from '../../mirror/plan-deletion.ts'
import type { GarbageReport } from '../../store/collect-garbage.ts'
import { count, formatBytes } from './quantities.ts'

type Fates = readonly Fate<ListedImage>[]

const shownOfAKind = 10

/** @param next the command of the second phase */
export function renderGenerated(result: GeneratedDeletion, target: string, next: string): string {
  const { fates, attached, manifests, bytes, files } = result
  const listed = [...of(fates, 'deleted'), ...of(fates, 'untagged')]
  const lines = [
    `would delete from ${target}:`,
    `  images      ${byClass(listed)}`,
    ...(attached.length > 0 ? [`  attached    ${count(attached.length, 'artifact')}, such as signatures`] : []),
    `  manifests   ${manifests.toLocaleString('en-US')}`,
    `  frees       ${formatBytes(bytes)} that nothing else known at this target needs, once its garbage is collected`,
    ...shared(fates),
    ...absent(fates, 'at this target'),
    ...kept(fates),
    ...warnings(result),
    ...failed(result.failures),
    '',
    'files:',
    ...files.map((file) => `  ${file}`),
    '',
    listed.length + attached.length > 0
      ? `Nothing was deleted. Next: read the list, then ${next}`
      : 'Nothing was deleted, and there is nothing to delete.',
  ]
  return `${lines.join('\n')}\n`
}

/** What garbage collection freed, and what it left because it is young. */
export interface FreedDisk extends GarbageReport {
  readonly bytesLeft: number
}

export interface ListedFacts {
  readonly target: string
  readonly isDryRun: boolean
  readonly freed: FreedDisk | undefined
  readonly root: string | undefined
  readonly file: string
}

export function renderListed(result: ListedDeletion, facts: ListedFacts): string {
  const { fates, stuck, manifests, failures } = result
  const { target, isDryRun } = facts
  const broken = new Set(failures.map(({ name }) => name))
  const deleted = of(fates, 'deleted').filter(({ item }) => !broken.has(item.item.imageReference)).length
  const untagged = of(fates, 'untagged').length - stuck.length
  const names = untagged > 0 ? `, ${count(untagged, 'name')} of images that stay` : ''
  const lines = [
    `${isDryRun ? 'would delete' : 'deleted'} from ${target}: ${count(deleted, 'image')} (${count(manifests, 'manifest')})${names}${failures.length > 0 ? `; ${failures.length} failed` : ''}`,
    ...absent(fates, 'any more'),
    ...kept(fates),
    ...stuckTags(result),
    ...warnings(result),
    ...failed(failures),
    ...(isDryRun ? ['', 'Nothing was deleted: this was a dry run.'] : afterwards(result, facts)),
  ]
  return `${lines.join('\n')}\n`
}

function of<Name extends Fate<ListedImage>['fate']>(fates: Fates, fate: Name) {
  return fates.filter((one): one is Extract<Fate<ListedImage>, { fate: Name }> => one.fate === fate)
}

function byClass(listed: Fates): string {
  const groups = [...Map.groupBy(listed, ({ item }) => item.class)]
  return (
    groups
      .map(([name, all]) => `${all.length} ${name}`)
      .sort()
      .join(', ') || 'none'
  )
}

function absent(fates: Fates, where: string): string[] {
  const images = of(fates, 'absent')
  return images.length === 0 ? [] : [`  absent      ${count(images.length, 'image')} not ${where}`]
}

function shared(fates: Fates): string[] {
  const images = of(fates, 'untagged')
  return images.length === 0 ? [] : [`  of these    ${images.length} lose only this name: another one holds the image`]
}

/** Grouped by reason: two hundred components of a release in use are one line. */
function kept(fates: Fates): string[] {
  const all = of(fates, 'kept')
  if (all.length === 0) return []
  const groups = [...Map.groupBy(all, ({ why }) => why)].sort(([, a], [, b]) => b.length - a.length)
  const lines = groups.slice(0, shownOfAKind).flatMap(([why, items]) => [`  ${why}`, ...someOf(items.map(nameOf))])
  const more =
    groups.length > shownOfAKind ? [`  and ${groups.length - shownOfAKind} more reasons (--json lists all)`] : []
  return ['', `kept: ${count(all.length, 'image')}`, ...lines, ...more]
}

function someOf(names: readonly string[]): string[] {
  const shown = names.slice(0, shownOfAKind).map((name) => `    ${name}`)
  const left = names.length - shown.length
  return left > 0 ? [...shown, `    and ${left.toLocaleString('en-US')} more`] : shown
}

function nameOf({ item }: Fate<ListedImage>): string {
  return item.item.imageReference.replace(/^docker:\/\//, '')
}

function stuckTags({ stuck }: ListedDeletion): string[] {
  const groups = [...Map.groupBy(stuck, ({ why }) => why)]
  return groups.flatMap(([why, tags]) => [
    '',
    `still named: ${count(tags.length, 'tag')}; ${why}, and the image under it is used by another tag`,
    ...someOf(tags.map(({ name }) => name)),
    '  next: nothing is broken and no disk is lost. They go with the image: this workspace remembers them.',
  ])
}

function warnings({ stillWanted }: Pick<GeneratedDeletion, 'stillWanted'>): string[] {
  return [
    ...(stillWanted.length > 0
      ? [
          '',
          `warning: ${count(stillWanted.length, 'image')} of these were asked for by the last mirror of this workspace:`,
          '  the same configuration brings them again; take them out of it as well.',
        ]
      : []),
  ]
}

function failed(failures: readonly FailedDeletion[]): string[] {
  const groups = Map.groupBy(failures, ({ error }) => `${error.code}\n${error.message}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const names = group.length > 1 ? someOf(group.map(({ name }) => name)) : []
    return ['', `failed: ${first.error.code}: ${first.error.message}`, ...names, `  next: ${first.error.hint}`]
  })
}

function afterwards({ manifests, failures }: ListedDeletion, { freed, root, target }: ListedFacts): string[] {
  const again =
    failures.length > 0 ? ['', 'Run the same command again when that is mended: what is gone stays gone.'] : []
  if (freed) {
    const { bytesFreed, blobsFreed } = freed
    const left =
      freed.bytesLeft > 0
        ? [
            `${formatBytes(freed.bytesLeft)} more when it is older than the grace time: sallyport registry gc --root ${root}`,
          ]
        : []
    return [...again, '', `freed ${formatBytes(bytesFreed)} in ${count(blobsFreed, 'blob')} at ${root}`, ...left]
  }
  if (manifests === 0) return again
  return [
    ...again,
    '',
    'The disk of the registry is freed by its garbage collection:',
    '  embedded registry   sallyport registry gc --root DIR, on its machine, while it serves (or here: --gc-root DIR)',
    '  docker-registry     registry garbage-collect /etc/docker/registry/config.yml, while nobody pushes; without',
    '                      --delete-untagged, which also takes the images of multi-platform indexes',
    '  Quay, Harbor        by themselves, on their schedule',
    `Next: sallyport verify mirror docker://${target}`,
  ]
}

export function jsonOfGenerated(result: GeneratedDeletion): object {
  const { attached, failures, fates, ...facts } = result
  return {
    ...facts,
    images: fates.map(jsonOfFate),
    attached: attached.map(({ item }) => item),
    failures: failures.map(jsonOfFailure),
  }
}

export function jsonOfListed(result: ListedDeletion, freed: FreedDisk | undefined): object {
  const { failures, fates, ...facts } = result
  return { ...facts, images: fates.map(jsonOfFate), failures: failures.map(jsonOfFailure), ...(freed && { freed }) }
}

function jsonOfFate({ item, ...rest }: Fate<ListedImage>): object {
  return { ...item.item, class: item.class, ...rest }
}

function jsonOfFailure({ name, class: of, error: { code, message, hint, details } }: FailedDeletion): object {
  return { name, class: of, error: { code, message, hint, details } }
}
