/** What is in an archive, for people. */
import type { FoundArchive } from '../../archive/read/find-archives.ts'
import type { ArchiveSummary, SummarisedImage } from '../../archive/read/summarise-archive.ts'
import type { KnownError } from '../../errors/known-error.ts'
import { redact } from '../../errors/redact.ts'
import { count, formatBytes } from './quantities.ts'

const kinds = { full: 'full, needs nothing at the target', increment: 'increment', repair: 'repair' } as const
/** More volumes, or holes, than a screen holds are counted. */
const shown = 12

export function renderArchive(summary: ArchiveSummary, isEveryImage: boolean): string {
  const { sequence, target, kind, parent, repairs, id, carried, held, isSigned } = summary
  const origin = parent ?? repairs
  const after = origin === undefined ? '' : ` ${repairs ? 'of' : 'after'} ${short(origin)}`
  const lines = [
    `archive ${sequence} for ${target ?? 'any target'}: ${kinds[kind]}${after}`,
    field('id', `${id}, ${isSigned ? 'signed' : 'not signed'}`),
    field(
      'carries',
      `${formatBytes(carried.bytes)} in ${count(carried.blobs, 'blob')} and ${count(carried.manifests, 'manifest')}`,
    ),
    ...(held > 0 ? [field('', `${held.toLocaleString('en-US')} more are at the target already`)] : []),
    ...imageLines(summary, isEveryImage),
    ...volumeLines(summary),
    ...holeLines(summary),
    ...summary.problems.map((problem, index) => field(index === 0 ? 'wrong' : '', problem)),
    ...nextStep(summary),
  ]
  // What an index says reaches a terminal here.
  return redact(`${lines.join('\n')}\n`)
}

export function renderUnreadable({ stem, volumes }: FoundArchive, { code, message, hint }: KnownError): string {
  const bytes = volumes.reduce((sum, { size }) => sum + size, 0)
  const lines = [
    `${stem}: ${message} (${code})`,
    field('here', `${count(volumes.length, 'volume')}, ${formatBytes(bytes)}`),
    field('next', hint),
  ]
  return `${lines.join('\n')}\n`
}

function field(name: string, text: string): string {
  return `  ${name.padEnd(9)} ${text}`
}

function imageLines({ images, classes }: ArchiveSummary, isEveryImage: boolean): string[] {
  const parts = Object.entries(classes).map(([name, { images: number }]) => `${name} ${number}`)
  const attached = Object.values(classes).reduce((sum, { attached: number }) => sum + number, 0)
  const also = attached > 0 ? `; ${attached} more attached to them (signatures, artifacts)` : ''
  const summary = field('images', `${count(images.length - attached, 'image')}: ${parts.join(', ') || 'none'}${also}`)
  if (!isEveryImage) return [summary]
  return [summary, ...images.map((image) => `    ${imageLine(image)}`)]
}

function imageLine({ class: name, state, destination, source, digest, attachedTo }: SummarisedImage): string {
  const from = attachedTo === undefined ? `from ${source}` : `attached to ${short(attachedTo)}`
  return `${state.padEnd(8)}${name.padEnd(11)}${destination}  ${short(digest)}  ${from}`
}

function volumeLines({ directory, volumes }: ArchiveSummary): string[] {
  const missing = volumes.filter(({ isMissing }) => isMissing)
  const bytes = volumes.reduce((sum, { size }) => sum + size, 0)
  const here =
    missing.length > 0
      ? `${volumes.length - missing.length} of ${count(volumes.length, 'volume')} here`
      : count(volumes.length, 'volume')
  // Those that are missing are named whatever their number.
  const listed = volumes.length > shown ? missing : volumes
  return [
    field('volumes', `${here}, ${formatBytes(bytes)}${missing.length > 0 ? ' in all' : ''}, in ${directory}`),
    ...listed.map(({ file, size, isMissing }) =>
      field('', `${file}  ${formatBytes(size).padStart(9)}${isMissing ? '  MISSING' : ''}`),
    ),
  ]
}

function holeLines({ holes }: ArchiveSummary): string[] {
  if (holes.length === 0) return []
  return [
    field('holes', `${count(holes.length, 'image')} could not be had when it was made`),
    ...holes.slice(0, shown).map(({ source, code }) => field('', `${source}  ${code}`)),
    ...(holes.length > shown ? [field('', `and ${holes.length - shown} more (--json lists them all)`)] : []),
  ]
}

function nextStep({ volumes, problems }: ArchiveSummary): string[] {
  if (volumes.some(({ isMissing }) => isMissing))
    return [field('next', 'put the missing volumes into the same directory')]
  return problems.length > 0 ? [field('next', 'sallyport archive verify DIR tells what is damaged')] : []
}

function short(digest: string): string {
  return digest.slice(0, 19)
}
