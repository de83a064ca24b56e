/** Whether an archive may be loaded into a target now: is it for this one, and is everything there that it builds on. Pure. */
import type { ErrorCode } from '../../errors/codes.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { ArchiveIndex } from '../format/archive-index.ts'
import type { HistoryEntry } from './archive-history.ts'

const codes = {
  'archive.other-target': 'ARCHIVE_OTHER_TARGET',
  'archive.out-of-order': 'ARCHIVE_OUT_OF_ORDER',
  'archive.other-archive': 'ARCHIVE_OUT_OF_ORDER',
} as const satisfies Record<string, ErrorCode>

type Archive = Pick<ArchiveIndex, 'id' | 'record'>
type Loaded = readonly Pick<HistoryEntry, 'id' | 'sequence'>[]

/**
 * What speaks against loading `archive` into `target` (`HOST/PATH`), by severity; empty where nothing does.
 *
 * @param loaded what was loaded into this target
 */
export function checkArchiveOrder(loaded: Loaded, archive: Archive, target: string): readonly Finding[] {
  const { id, record } = archive
  const isLoaded = loaded.some((entry) => entry.id === id)
  return [
    ...(record.target !== undefined && record.target !== target ? [otherTarget(record.target, archive, target)] : []),
    ...(isLoaded ? [alreadyLoaded(archive, target)] : [...conflicts(loaded, archive), ...gaps(loaded, archive)]),
  ]
}

/**
 * The findings, if the archive may be loaded.
 *
 * @param accept true where the user wants it loaded anyway: errors become warnings
 * @throws KnownError ARCHIVE_OTHER_TARGET, ARCHIVE_OUT_OF_ORDER
 */
export function requireArchiveOrder(findings: readonly Finding[], accept: boolean): readonly Finding[] {
  if (accept) return findings.map((one) => (one.severity === 'error' ? { ...one, severity: 'warning' } : one))
  const error = findings.find(({ severity }) => severity === 'error')
  if (!error) return findings
  const hint = error.remedy === undefined ? {} : { hint: error.remedy }
  throw new KnownError(codes[error.id as keyof typeof codes] ?? 'ARCHIVE_OUT_OF_ORDER', error.summary, hint)
}

function otherTarget(made: string, { record }: Archive, target: string): Finding {
  return finding({
    id: 'archive.other-target',
    severity: 'error',
    summary: `Archive ${record.sequence} was made for ${made}, and this is ${target}`,
    remedy: `Load the archive that was made for ${target}; this one lacks what ${made} holds already. Or make one from a receipt of this target.`,
  })
}

function alreadyLoaded({ record }: Archive, target: string): Finding {
  return finding({
    id: 'archive.already-loaded',
    severity: 'info',
    summary: `Archive ${record.sequence} was loaded into ${target} before; what is there is not moved again`,
  })
}

function conflicts(loaded: Loaded, { record, id }: Archive): Finding[] {
  const { sequence, kind } = record
  const other = loaded.find((entry) => entry.sequence === sequence)
  if (!other || kind !== 'increment') return []
  return [
    finding({
      id: 'archive.other-archive',
      severity: 'error',
      summary: `Another archive with the number ${sequence} was loaded here: ${other.id}, and this is ${id}`,
      remedy:
        'The other side made archives from two workspaces. Make a receipt here (sallyport archive receipt --full) and have the next archive made from it.',
    }),
  ]
}

function gaps(loaded: Loaded, { record }: Archive): Finding[] {
  const { kind, sequence, parent, repairs } = record
  const needed = kind === 'repair' ? repairs : parent
  if (kind === 'full' || loaded.some(({ id }) => id === needed)) return []
  return [
    finding({
      id: 'archive.out-of-order',
      severity: 'error',
      summary: `${kind === 'repair' ? `A repair of archive ${sequence}` : `Archive ${sequence}`} cannot be loaded yet: ${missing(loaded, record)}`,
      evidence: [`it builds on ${needed ?? 'an archive that it does not name'}`, ...lastLoaded(loaded)].join('; '),
      remedy:
        'Load what is missing first, or ask for an archive made from a receipt of this side (sallyport archive receipt), or for a full one.',
    }),
  ]
}

/** Only the number of this archive is known, and not that of its parent: between the two may be some for other targets. */
function missing(loaded: Loaded, { kind, sequence, parentSequence }: Archive['record']): string {
  if (kind === 'repair') return `archive ${sequence} itself was not loaded here`
  if (parentSequence !== undefined && !loaded.some((entry) => entry.sequence === parentSequence)) {
    return `archive ${parentSequence} is missing`
  }
  const before = loaded.filter((entry) => entry.sequence < sequence).map((entry) => entry.sequence)
  const first = Math.max(0, ...before) + 1
  if (first >= sequence) return `it does not follow the archive ${sequence - 1} that was loaded here, but another one`
  if (first === sequence - 1) return `archive ${first} is missing`
  return `archives ${first}-${sequence - 1} are missing, at least one of which it needs`
}

function lastLoaded(loaded: Loaded): string[] {
  const last = loaded.at(-1)
  return last ? [`the last one loaded is ${last.sequence} (${last.id})`] : ['none was loaded here']
}
