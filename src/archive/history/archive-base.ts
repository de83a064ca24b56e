/**
 * What the next archive builds on: content that the target holds, as far as it can be known on this side.
 *
 * With a receipt it is what the target says it holds. Without one it is declared: what was put into archives for it.
 */
import type { Finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { Digest } from '../../oci/digest.ts'
import type { ArchiveImage } from '../format/records.ts'
import { type ArchiveHistory, type HistoryEntry, readHistory } from './archive-history.ts'
import { digestOfSet, resolveClaim } from './held-set.ts'
import { type HistorySum, sumHistory } from './history-content.ts'
import { parseRanges, type Receipt } from './receipt.ts'
import { WholeImages } from './whole-images.ts'

export interface ArchiveBase {
  /** The highest number that was given in this workspace; the next archive has one more. */
  readonly sequence: number
  /** The archive that the next one follows; absent where it has to be a full one. */
  readonly parent?: Digest
  readonly parentSequence?: number
  readonly target?: string
  /** The archives that this is made of, by sequence. */
  readonly archives: readonly number[]
  /** How many blobs and manifests are held. */
  readonly count: number
  readonly holds: (digest: Digest) => boolean
  /**
   * The record of an image that is held whole, followed by those of its signatures and other artifacts.
   *
   * @param destination below the target, as in the record
   */
  readonly wholeImage: (source: string, destination: string) => readonly ArchiveImage[] | undefined
  /** What of the history could not be used. */
  readonly findings: readonly Finding[]
}

export interface BaseOptions {
  /** The target by its name; that of the receipt where there is one. */
  readonly target?: string | undefined
  readonly receipt?: Receipt | undefined
  /** Only archives that were recorded before this time (milliseconds) count: what was carried since is carried again. */
  readonly sinceMs?: number | undefined
  /** Nothing counts as held. */
  readonly isFull?: boolean | undefined
}

/**
 * @param directory `written` of `historyDirectories`
 * @throws KnownError RECEIPT_INVALID, ARCHIVE_INVALID
 */
export async function openBase(directory: string, options: BaseOptions): Promise<ArchiveBase> {
  const target = options.target ?? options.receipt?.target
  const history = await readHistory(directory, target)
  const entries = options.isFull ? [] : entriesOf(history, options)
  const sum = await sumHistory(entries)
  return composeBase({ history, entries, sum, ...options, target })
}

/** Which archives of the history count. Pure. */
function entriesOf({ archives }: ArchiveHistory, { receipt, sinceMs, target }: BaseOptions): readonly HistoryEntry[] {
  if (receipt?.content) return archives
  if (receipt) return acknowledged(archives, receipt, target ?? receipt.target)
  const counted = archives.filter(({ recordedAt }) => sinceMs === undefined || Date.parse(recordedAt) < sinceMs)
  return counted.slice(
    Math.max(
      0,
      counted.findLastIndex(({ kind }) => kind === 'full'),
    ),
  )
}

interface BaseParts extends BaseOptions {
  readonly history: Pick<ArchiveHistory, 'lastSequence' | 'findings'>
  /** In the order of their sequence. */
  readonly entries: readonly HistoryEntry[]
  readonly sum: HistorySum
}

/** Pure. */
function composeBase({ history, entries, sum, receipt, target }: BaseParts): ArchiveBase {
  const held = receipt ? heldByReceipt(receipt, sum.carried) : sum.arrived
  const parent = receipt?.archive ?? entries.at(-1)?.id
  const parentSequence = receipt?.sequence ?? entries.at(-1)?.sequence
  const whole = new WholeImages(sum, held)
  return {
    sequence: Math.max(history.lastSequence, receipt?.sequence ?? 0),
    ...(parent !== undefined && parentSequence !== undefined && { parent, parentSequence }),
    ...(target !== undefined && { target }),
    archives: entries.map(({ sequence }) => sequence),
    count: held.size,
    holds: (digest) => held.has(digest),
    wholeImage: (source, destination) => whole.find(source, destination),
    findings: history.findings,
  }
}

/** The archives that a receipt names, if they are those of this history. */
function acknowledged(archives: readonly HistoryEntry[], receipt: Receipt, target: string): readonly HistoryEntry[] {
  if (receipt.target !== target) {
    throw refused(receipt, `it is for the target ${receipt.target}, and this archive is to be for ${target}`, {
      hint: 'Name the receipt of this target, or leave the name of the target out: it stands in the receipt.',
    })
  }
  const bySequence = new Map(archives.map((entry) => [entry.sequence, entry]))
  const entries: HistoryEntry[] = []
  for (const { first, last } of parseRanges(receipt.archives)) {
    for (let sequence = first; sequence <= last; sequence += 1) {
      const entry = bySequence.get(sequence)
      if (!entry) throw refused(receipt, `this workspace has made no archive ${sequence} for this target`, lostHistory)
      entries.push(entry)
    }
  }
  const end = bySequence.get(receipt.sequence)
  if (end?.id === receipt.archive) return entries
  const here = end ? `is ${end.id}` : 'was never made'
  throw refused(receipt, `it names ${receipt.archive} as archive ${receipt.sequence}, which here ${here}`, lostHistory)
}

const lostHistory = {
  hint: 'Use the workspace that made these archives, ask for a receipt with all content (sallyport archive receipt --full), or make a full archive: --full.',
}

function heldByReceipt(receipt: Receipt, known: ReadonlySet<Digest>): ReadonlySet<Digest> {
  if (receipt.content) {
    const held = new Set(receipt.content)
    if (digestOfSet(held) === receipt.held.digest) return held
    throw refused(receipt, 'its content is not that of its digest')
  }
  const held = resolveClaim(known, receipt.held)
  if (typeof held === 'string') throw refused(receipt, held, lostHistory)
  return held
}

function refused({ target, sequence }: Receipt, why: string, options: { hint?: string } = {}): KnownError {
  return new KnownError('RECEIPT_INVALID', `The receipt of ${target} for archive ${sequence} does not fit: ${why}`, {
    ...options,
    details: { target, sequence },
  })
}
