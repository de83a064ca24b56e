/** From what was loaded into a target, and what of it is still there, to a receipt. Pure. */
import { KnownError } from '../../errors/known-error.ts'
import type { Digest } from '../../oci/digest.ts'
import type { HistoryEntry } from './archive-history.ts'
import { claimHeld } from './held-set.ts'
import type { HistorySum } from './history-content.ts'
import { formatRanges, type Receipt } from './receipt.ts'

export interface Loaded {
  /** `HOST/PATH` */
  readonly target: string
  /** By sequence. */
  readonly entries: readonly HistoryEntry[]
  readonly sum: Pick<HistorySum, 'carried' | 'arrived'>
}

export interface ReceiptOptions {
  /** Content that is not at the target although it was loaded. */
  readonly absent?: ReadonlySet<Digest>
  /** With all content by its digest, for a connected side that lost its history. */
  readonly isFull?: boolean
}

/** The archives whose content a receipt speaks of: all since the last full one, which was a new start. */
export function sinceLastFull(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  return entries.slice(
    Math.max(
      0,
      entries.findLastIndex(({ kind }) => kind === 'full'),
    ),
  )
}

/** @throws KnownError RECEIPT_INVALID where nothing was loaded */
export function composeReceipt({ target, entries, sum }: Loaded, options: ReceiptOptions = {}): Receipt {
  const last = entries.at(-1)
  if (!last) {
    throw new KnownError('RECEIPT_INVALID', `No archive was loaded into ${target} from this workspace`, {
      details: { target },
      hint: 'Name the workspace and the target of the load (sallyport mirror --from … docker://HOST/PATH). Without one, ask for a full archive.',
    })
  }
  const { absent } = options
  const held = absent ? new Set([...sum.arrived].filter((digest) => !absent.has(digest))) : sum.arrived
  return {
    target,
    sequence: last.sequence,
    archive: last.id,
    archives: formatRanges(entries.map(({ sequence }) => sequence)),
    held: claimHeld(sum.carried, held),
    ...(options.isFull && { content: [...held].sort() }),
  }
}
