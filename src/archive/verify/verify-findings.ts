/** What is wrong with an archive, for those who have to mend it. */
import { type Finding, finding, type Severity } from '../../errors/finding.ts'
import type { KnownError } from '../../errors/known-error.ts'
import type { Digest } from '../../oci/digest.ts'
import { volumeName } from '../format/volume-names.ts'
import type { Archive } from '../read/archive.ts'
import { DamagedEntry } from '../read/damaged-entry.ts'
import type { FoundArchive } from '../read/find-archives.ts'
import type { DamagedRange, DamageKind } from './damage-log.ts'

interface Damage {
  readonly ranges: readonly DamagedRange[]
  /** Blobs and manifests that are damaged or not there. */
  readonly blobs: readonly Digest[]
  /** Sources of the images that need a blob or manifest. */
  readonly images: ReadonlyMap<Digest, readonly string[]>
}

const carryAgain =
  'sallyport archive verify DIR --repair-list FILE writes what has to be carried again; take that file to the side that made it.'
const putIntoPlace = `Put every volume into the directory under the name that it had. Where one is lost, ${carryAgain}`
const distrust =
  'Nothing has to be carried again for this, but what holds these files has changed bytes: do not trust it.'

/** By kind: how the finding is called, what is wrong, and the next step. */
const kinds: Readonly<Record<DamageKind, { id: string; what: (entry: string) => string; remedy: string }>> = {
  content: { id: 'archive.content-damaged', what: (digest) => `${digest} is damaged`, remedy: carryAgain },
  record: { id: 'archive.record-damaged', what: (entry) => `${entry} is damaged`, remedy: carryAgain },
  frame: { id: 'archive.frame-damaged', what: (entry) => `${entry}: not as it was written`, remedy: distrust },
  unreadable: { id: 'archive.unreadable', what: () => 'the disk does not give these bytes', remedy: carryAgain },
  cut: { id: 'archive.volume-cut', what: () => 'the file is cut, these bytes are missing', remedy: putIntoPlace },
  longer: { id: 'archive.volume-longer', what: () => 'more than was written', remedy: distrust },
  missing: { id: 'archive.volume-missing', what: () => 'the volume is not there', remedy: putIntoPlace },
  foreign: { id: 'archive.volume-foreign', what: () => 'this volume belongs to another archive', remedy: putIntoPlace },
}

/** One finding for each thing that is damaged, in the order of their places. */
export function damageFindings(archive: Archive, damage: Damage): readonly Finding[] {
  const things = Map.groupBy(damage.ranges, ({ kind, entry, volume, digest }) => digest ?? `${kind} ${volume} ${entry}`)
  return [...things.values()].flatMap((ranges) => {
    const [first] = ranges
    return first ? [describe(first, ranges, affected(archive, first, damage))] : []
  })
}

function describe(first: DamagedRange, ranges: readonly DamagedRange[], images: readonly string[]): Finding {
  const { id, what, remedy } = kinds[first.kind]
  const [place, ...others] = ranges.map(placeOf)
  const needed = images.length > 0 ? `; needed by ${someOf(images)}` : ''
  return finding({
    id,
    severity: 'error',
    summary: `${place}: ${what(first.entry)}${needed}`,
    ...(others.length > 0 && { evidence: `one of its pieces, here or in ${someOf(others)}` }),
    remedy,
  })
}

/** `…-0002.tar, bytes 1024 to 1535`; both ends belong to it. */
function placeOf({ file, start, end, kind }: DamagedRange): string {
  if (kind === 'missing') return file
  return end - start === 1 ? `${file}, byte ${start}` : `${file}, bytes ${start} to ${end - 1}`
}

function affected(archive: Archive, range: DamagedRange, { blobs, images }: Damage): readonly string[] {
  if (range.digest) return images.get(range.digest) ?? []
  if (!['missing', 'foreign', 'cut'].includes(range.kind)) return []
  const within = blobs.filter((digest) => {
    const blob = archive.blobs.get(digest)
    const segments = blob ? archive.segmentsOf(blob) : []
    return segments.some(({ volume, offset, length }) => volume === range.volume && offset + length > range.start)
  })
  return [...new Set(within.flatMap((digest) => images.get(digest) ?? []))]
}

const shown = 3

function someOf(names: readonly string[]): string {
  const rest = names.length - shown
  return `${names.slice(0, shown).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** What could not be had when the archive was made. */
export function holeFindings({ holes }: Archive): readonly Finding[] {
  const severity: Severity = 'warning'
  return (holes?.images ?? []).map(({ source, code, message }) =>
    finding({
      id: 'archive.hole',
      severity,
      summary: `${source} is not in this archive: it could not be had when that was made`,
      evidence: `${code}: ${message}`,
      remedy: 'On the connected side run mirror again: what is missing now comes with the next archive.',
    }),
  )
}

/** Where the index cannot be read, and so nothing else can be told. */
export function indexFindings(
  { directory, stem, missing }: FoundArchive,
  error: KnownError,
): {
  findings: readonly Finding[]
  ranges: readonly DamagedRange[]
  entries: readonly string[]
  volumes: readonly number[]
} {
  const fileOf = (volume: number) => `${directory}/${volumeName(stem, volume)}`
  const pieces = error instanceof DamagedEntry ? error.pieces : []
  const ranges = pieces.map(({ volume, offset, length }): DamagedRange => {
    const entry = error instanceof DamagedEntry ? error.entry : ''
    return { volume, file: fileOf(volume), start: offset, end: offset + length, entry, kind: 'record' }
  })
  const index = finding({
    id: 'archive.index-damaged',
    severity: 'error',
    summary: [ranges.map(placeOf).join(', '), error.message].filter(Boolean).join(': '),
    evidence: 'without its index nothing else in an archive can be told apart or proven',
    remedy: carryAgain,
  })
  const volumes = missing.map((volume) => {
    const { id, remedy } = kinds.missing
    return finding({ id, severity: 'error', summary: `${fileOf(volume)}: the volume is not there`, remedy })
  })
  const entries = error instanceof DamagedEntry ? [error.entry] : []
  return { findings: [index, ...volumes], ranges, entries, volumes: missing }
}
