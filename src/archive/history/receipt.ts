/**
 * What the closed side tells the connected side after a load: which archives, and which of their content, a target holds.
 *
 * One line of JSON, to be carried on paper, in a QR code or in a file (docs/adr/0009-receipts.md). Its order of fields and its lack of
 * spaces are part of the format: its sum and its signature are over its text.
 */
import * as z from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { type Digest, digestOf } from '../../oci/digest.ts'
import { digestText } from '../../oci/digest-text.ts'
import type { ArchiveSignature, ArchiveSigner } from '../format/signature.ts'
import type { HeldClaim } from './held-set.ts'

const DigestText = digestText('is no digest')
const Sequence = z.number().int().positive()

const Body = z.strictObject({
  sallyport: z.literal('receipt'),
  version: z.literal(1),
  /** `HOST/PATH` of the target: printable, because it is shown before anything proves it. */
  target: z.string().regex(/^[\x21-\x7e]{1,512}$/),
  /** Of the last archive that was loaded. */
  sequence: Sequence,
  /** Its id. */
  archive: DigestText,
  /** The numbers of all archives whose content counts: `1-3,5`. */
  archives: z.string().regex(/^[1-9]\d{0,14}(?:-[1-9]\d{0,14})?(?:,[1-9]\d{0,14}(?:-[1-9]\d{0,14})?)*$/),
  held: z.strictObject({ count: z.number().int().nonnegative(), digest: DigestText }),
  except: z.array(z.string().regex(/^[0-9a-f]{4,128}$/)),
  /** Everything that is held: for a connected side that lost its history. */
  content: z.array(DigestText).optional(),
})

const ReceiptFile = Body.extend({
  /** The first 8 hex digits of the sha256 of the text without this and what follows: finds slips of a hand or a scanner. */
  sum: z.string(),
  signature: z.strictObject({ key: z.string().regex(/^[0-9a-f]{64}$/), value: z.base64() }).optional(),
})

export interface Receipt {
  readonly target: string
  readonly sequence: number
  readonly archive: Digest
  /** Ranges of numbers: `1-3,5`. */
  readonly archives: string
  readonly held: HeldClaim
  readonly content?: readonly Digest[]
  readonly signature?: ArchiveSignature
}

/** The receipt as a line of text, signed where there is a key. */
export function renderReceipt(receipt: Omit<Receipt, 'signature'>, signer?: ArchiveSigner): string {
  const summed = summedText(receipt)
  return `${JSON.stringify(signer ? { ...summed, signature: signer.sign(receiptMessage(receipt)) } : summed)}\n`
}

/** What the signature of a receipt is over. */
export function receiptMessage(receipt: Omit<Receipt, 'signature'>): string {
  return `sallyport-receipt-v1\n${JSON.stringify(summedText(receipt))}\n`
}

/**
 * @param origin names the place it came from in messages
 * @throws KnownError RECEIPT_INVALID also where a character was changed on the way
 */
export function parseReceipt(text: string, origin: string): Receipt {
  const result = ReceiptFile.safeParse(parsedJson(text, origin))
  if (!result.success) throw notAReceipt(text, origin, result.error)
  const { target, sequence, archive, archives, held, except, content, sum, signature } = result.data
  const receipt: Receipt = {
    ...{ target, sequence, archive, archives, held: { ...held, except } },
    ...(content && { content }),
  }
  if (summedText(receipt).sum !== sum) {
    throw invalidReceipt(
      origin,
      `it was changed, or copied with a slip: its sum is ${sum} and not ${summedText(receipt).sum}`,
    )
  }
  return signature ? { ...receipt, signature } : receipt
}

/** `1-3,5` */
export function formatRanges(sequences: readonly number[]): string {
  const ranges: { first: number; last: number }[] = []
  for (const sequence of [...sequences].sort((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range && sequence <= range.last + 1) range.last = sequence
    else ranges.push({ first: sequence, last: sequence })
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}

export function parseRanges(text: string): readonly { readonly first: number; readonly last: number }[] {
  return text.split(',').map((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return { first, last }
  })
}

function summedText(receipt: Omit<Receipt, 'signature'>): z.infer<typeof ReceiptFile> {
  const { target, sequence, archive, archives, held, content } = receipt
  const body: z.infer<typeof Body> = {
    ...{ sallyport: 'receipt', version: 1, target, sequence, archive, archives },
    ...{ held: { count: held.count, digest: held.digest }, except: [...held.except] },
    ...(content && { content: [...content] }),
  }
  return { ...body, sum: digestOf(JSON.stringify(body)).slice('sha256:'.length, 'sha256:'.length + 8) }
}

function parsedJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalidReceipt(origin, 'it is no JSON; a receipt is one line that begins with {"sallyport":"receipt"', cause)
  }
}

function notAReceipt(text: string, origin: string, error: z.ZodError): KnownError {
  const kind = z.object({ sallyport: z.literal('receipt'), version: z.number() }).safeParse(parsedJson(text, origin))
  if (kind.success && kind.data.version !== 1) {
    return new KnownError('RECEIPT_INVALID', `${origin}: version ${kind.data.version} of receipts is not known here`, {
      hint: 'Use a sallyport on this side that is at least as new as the one that made the receipt.',
      details: { version: kind.data.version },
    })
  }
  const [issue] = error.issues
  const place = issue?.path.join('.') ?? ''
  return invalidReceipt(origin, kind.success ? `${place}: ${issue?.message}` : 'it is no receipt', error)
}

function invalidReceipt(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('RECEIPT_INVALID', `${origin} is no receipt that can be used: ${why}`, { cause })
}
