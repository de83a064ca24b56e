/** Receipts as they are carried: a line in a file, or the pieces that several QR codes give. */
import { readFile } from 'node:fs/promises'
import { KnownError } from '../../errors/known-error.ts'
import { digestOf } from '../../oci/digest.ts'
import { type ArchiveVerifier, verifySignature } from '../format/signature.ts'
import { parseReceipt, type Receipt, receiptMessage } from './receipt.ts'

const partMark = 'sallyport-receipt-part'
const partPattern = new RegExp(`^${partMark} (\\d{1,3})/(\\d{1,3}) ([0-9a-f]{8}) (.*)$`)

/**
 * @param verifier where the receipt has to be signed by this key
 * @throws KnownError FILE_UNREADABLE, RECEIPT_INVALID, SIGNATURE_INVALID
 */
export async function readReceipt(path: string, verifier?: ArchiveVerifier): Promise<Receipt> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new KnownError('FILE_UNREADABLE', `The receipt ${path} cannot be read`, { details: { file: path }, cause })
  }
  const receipt = parseReceipt(joinParts(text, path), path)
  const { signature, ...signed } = receipt
  if (verifier) verifySignature(verifier, { text: receiptMessage(signed), signature, what: `the receipt ${path}` })
  return receipt
}

/**
 * The text itself where it has at most `maxBytes`, else pieces of it that `readReceipt` puts together in any order, a line each.
 *
 * @param text a receipt: ASCII
 */
export function splitReceipt(text: string, maxBytes: number): readonly string[] {
  const line = text.trimEnd()
  if (line.length <= maxBytes) return [line]
  const room = maxBytes - `${partMark} 999/999 ${sumOf(line)} `.length
  const count = Math.ceil(line.length / room)
  const length = Math.ceil(line.length / count)
  return Array.from({ length: count }, (_, index) => {
    const piece = line.slice(index * length, (index + 1) * length)
    return `${partMark} ${index + 1}/${count} ${sumOf(line)} ${piece}`
  })
}

function joinParts(text: string, origin: string): string {
  if (!text.trimStart().startsWith(partMark)) return text
  const pieces = new Map<number, string>()
  const sets = new Set<string>()
  let count = 0
  for (const line of text.split(/\r?\n/).filter((one) => one !== '')) {
    const [, part = '', of = '', sum = '', piece = ''] = partPattern.exec(line) ?? []
    if (part === '') throw incomplete(origin, `${JSON.stringify(line.slice(0, 40))} is no part of a receipt`)
    pieces.set(Number(part), piece)
    sets.add(`${of} ${sum}`)
    count = Number(of)
  }
  if (sets.size > 1) throw incomplete(origin, 'it has parts of several receipts')
  const wanted = Array.from({ length: count }, (_, index) => index + 1)
  const absent = wanted.filter((part) => !pieces.has(part))
  if (absent.length > 0) throw incomplete(origin, `part ${absent.join(', ')} of ${count} is missing`)
  const whole = wanted.map((part) => pieces.get(part)).join('')
  if (!sets.has(`${count} ${sumOf(whole)}`)) throw incomplete(origin, 'its parts were changed on the way')
  return whole
}

function sumOf(line: string): string {
  return digestOf(line).slice('sha256:'.length, 'sha256:'.length + 8)
}

function incomplete(origin: string, why: string): KnownError {
  return new KnownError('RECEIPT_INVALID', `${origin} is no whole receipt: ${why}`, {
    details: { file: origin },
    hint: 'Put the text of every QR code into one file, a line each, in any order.',
  })
}
