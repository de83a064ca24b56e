/** What both ways to cut a file into documents have in common. */

/** A document of a file of a catalog. */
export interface CatalogDocument {
  /** Of its first byte, in the file. */
  readonly offset: number
  /** In bytes. */
  readonly length: number
  readonly value: unknown
}

interface FaultOptions {
  /** Of the byte at which it is seen, in the file. */
  readonly offset: number
  /** The beginning of the document, to say whose it is. */
  readonly head: string
  readonly cause?: unknown
}

/** Why a file cannot be read on. Who knows the file and the catalog says it to the user. */
export class DocumentFault extends Error {
  readonly offset: number
  readonly head: string

  constructor(why: string, { offset, head, cause }: FaultOptions) {
    super(why, { cause })
    this.offset = offset
    this.head = head
  }
}

const headBytes = 64 * 1024

/** What `DocumentFault` tells of a document. */
export function headOf(bytes: Buffer): string {
  return bytes.toString('utf8', 0, Math.min(bytes.length, headBytes))
}
