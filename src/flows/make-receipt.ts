/** The path of `sallyport archive receipt`: what was loaded, asked for at the target, as a line to be carried back. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ArchiveSigner } from '../archive/format/signature.ts'
import { type HistoryEntry, historyDirectories, readHistory } from '../archive/history/archive-history.ts'
import { composeReceipt, sinceLastFull } from '../archive/history/compose-receipt.ts'
import { type HistorySum, sumHistory } from '../archive/history/history-content.ts'
import { type Receipt, renderReceipt } from '../archive/history/receipt.ts'
import { WholeImages } from '../archive/history/whole-images.ts'
import type { Finding } from '../errors/finding.ts'
import { type AbsentOptions, absentContent } from '../mirror/absent-content.ts'
import { destinationAt } from '../mirror/archive-target.ts'
import { formatMirrorTarget, type MirrorTarget } from '../mirror/destination.ts'
import { noteBroken } from '../mirror/note-broken.ts'
import { parsePlan } from '../mirror/plan-file.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'

export interface ReceiptRequest {
  /** That of the loads. */
  readonly workspace: Workspace
  readonly target: MirrorTarget
  /** Where what was loaded is asked for; undefined to trust the record of the loads. */
  readonly registry?: AbsentOptions['registry'] | undefined
  /** With all content, for a connected side that lost its history. */
  readonly isFull: boolean
  readonly signer?: ArchiveSigner | undefined
  readonly signal: AbortSignal
  readonly onAsked?: NonNullable<AbsentOptions['onAsked']>
}

export interface MadeReceipt {
  readonly receipt: Receipt
  /** One line. */
  readonly text: string
  /** What was loaded and is not at the target any more, with a place where it should be. */
  readonly absent: ReadonlyMap<Digest, string>
  /** False where something is absent and the next load could not be told to look at it closely. */
  readonly isNoted: boolean
  readonly findings: readonly Finding[]
}

/** @throws KnownError RECEIPT_INVALID where nothing was loaded, and what asking the target throws */
export async function makeReceipt(request: ReceiptRequest): Promise<MadeReceipt> {
  const { workspace, signer, isFull } = request
  const target = formatMirrorTarget(request.target)
  const { archives, findings } = await readHistory(historyDirectories(workspace.state).loaded, target)
  const entries = sinceLastFull(archives)
  const sum = await sumHistory(entries)
  const absent = request.registry ? await askTarget(entries, sum, request) : new Map<Digest, string>()
  const lacking = imagesLacking(sum, absent).map((image) => formatReference(destinationAt(request.target, image)))
  const isNoted = absent.size === 0 || (await noteBroken(workspace, target, new Map(lacking.map((name) => [name, []]))))
  const receipt = composeReceipt({ target, entries, sum }, { absent: new Set(absent.keys()), isFull })
  return { receipt, text: renderReceipt(receipt, signer), absent, isNoted, findings }
}

/** Destinations of the images that are not whole without what is absent. */
function imagesLacking(sum: HistorySum, absent: ReadonlyMap<Digest, string>): string[] {
  const whole = new WholeImages(sum, new Set([...sum.arrived].filter((digest) => !absent.has(digest))))
  const roots = [...sum.images.values()].flatMap(([root]) => root ?? [])
  return roots.flatMap(({ source, destination }) => (whole.find(source, destination) ? [] : [destination]))
}

async function askTarget(
  entries: readonly HistoryEntry[],
  { lastImages, arrived }: HistorySum,
  { target, registry, signal, onAsked }: ReceiptRequest,
): Promise<ReadonlyMap<Digest, string>> {
  if (!registry) return new Map()
  const plans = await Promise.all(
    entries.map(async ({ directory }) => {
      const path = join(directory, 'plan.json')
      return parsePlan(await readFile(path, 'utf8'), path)
    }),
  )
  return absentContent(
    { plans, images: lastImages, arrived },
    { target, registry, signal, ...(onAsked && { onAsked }) },
  )
}
