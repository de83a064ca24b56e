/**
 * The documents that a selection keeps, set down in a file of their own while the catalog is read through once more.
 *
 * A catalog comes as a stream, in the order of its layers, and is written in another order; so its kept documents lie in the
 * staging file until they are packed, the edited ones in their new text. In memory are only the places.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { KnownError } from '../errors/known-error.ts'
import { collectYoungGarbageEvery } from '../host/memory.ts'
import { type DocumentFormat, editDocument, type KeptDocument } from './fbc-write.ts'
import type { CatalogFile, CatalogFiles } from './meta.ts'

/** Where a document is in the staging file. */
export interface StagedDocument {
  readonly format: DocumentFormat
  readonly start: number
  /** In bytes. */
  readonly length: number
  readonly endsLine: boolean
}

const batchBytes = 1024 * 1024
const collectEveryBytes = 16 * 1024 * 1024
const newline = 0x0a
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Sets `documents` down in a new file at `path`.
 *
 * @returns for each of them, in their order, where it is
 * @throws KnownError CATALOG_INVALID where `files` are not those that the documents were found in; what reading throws
 */
export async function stageDocuments(
  files: CatalogFiles,
  documents: readonly KeptDocument[],
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<readonly StagedDocument[]> {
  const byFile = Map.groupBy(documents.keys(), (index) => documents[index]?.place.file ?? '')
  const staged = new Map<number, StagedDocument>()
  const output = new BatchFile(await open(path, 'w'))
  const onBytes = collectYoungGarbageEvery(collectEveryBytes)
  try {
    for await (const file of files.files(signal)) {
      const wanted = (byFile.get(file.path) ?? []).flatMap((index) => {
        const document = documents[index]
        return document ? [{ index, document }] : []
      })
      if (wanted.length > 0) await stageFile(file, { origin: files.origin, wanted, staged, output, signal, onBytes })
    }
    await output.finish()
  } finally {
    await output.close()
  }
  return documents.map(({ place }, index) => staged.get(index) ?? gone(files.origin, place.file))
}

interface Staging {
  readonly origin: string
  readonly wanted: readonly { readonly index: number; readonly document: KeptDocument }[]
  readonly staged: Map<number, StagedDocument>
  readonly output: BatchFile
  readonly signal: AbortSignal
  /** Called with the size of each chunk. */
  readonly onBytes: (count: number) => void
}

async function stageFile(
  file: CatalogFile,
  { origin, wanted, staged, output, signal, onBytes }: Staging,
): Promise<void> {
  const sorted = wanted.toSorted((a, b) => a.document.place.offset - b.document.place.offset)
  let format: DocumentFormat | undefined
  let current = 0
  let started = output.size
  let text: Uint8Array[] = []
  let position = 0
  for await (const chunk of file.open()) {
    signal.throwIfAborted()
    onBytes(chunk.byteLength)
    format ??= formatOf(chunk)
    for (let next = sorted[current]; next !== undefined; next = sorted[current]) {
      const { place, edit } = next.document
      const end = place.offset + place.length
      if (place.offset >= position + chunk.byteLength) break
      const part = chunk.subarray(Math.max(0, place.offset - position), end - position)
      if (edit) text.push(part.slice())
      else await output.append(part)
      if (end > position + chunk.byteLength) break
      if (edit) await output.append(newText(text, { format: format ?? 'json', document: next.document, origin }))
      const { size, lastByte } = output
      const length = size - started
      staged.set(next.index, { format: format ?? 'json', start: started, length, endsLine: lastByte === newline })
      started = size
      text = []
      current += 1
    }
    position += chunk.byteLength
  }
}

/**
 * As opm tells them apart: JSON begins with a brace (k8s.io/apimachinery `pkg/util/yaml/decoder.go:GuessJSONStream`).
 *
 * @returns undefined where there is nothing but white space so far
 */
function formatOf(chunk: Uint8Array): DocumentFormat | undefined {
  const first = chunk.find((byte) => byte > 0x20 && !byteOrderMark.includes(byte))
  if (first === undefined) return undefined
  return first === 0x7b ? 'json' : 'yaml'
}

interface EditedText {
  readonly format: DocumentFormat
  readonly document: KeptDocument
  readonly origin: string
}

function newText(parts: readonly Uint8Array[], { format, document, origin }: EditedText): Uint8Array {
  const text = Buffer.concat(parts).toString('utf8')
  if (!document.edit) return Buffer.from(text)
  try {
    return Buffer.from(editDocument(text, format, document.edit))
  } catch (cause) {
    throw changed(origin, document.place.file, cause)
  }
}

function gone(origin: string, file: string): never {
  throw changed(origin, file)
}

function changed(origin: string, file: string, cause?: unknown): KnownError {
  return new KnownError('CATALOG_INVALID', `${origin}: ${file} is not what it was when it was read first`, {
    details: { catalog: origin, file },
    cause,
    hint: 'The catalog changed between two readings. Run the same command again.',
  })
}

/** Gathers what is appended, so that small documents do not each cost a call. */
class BatchFile {
  readonly #file: FileHandle
  readonly #batch = Buffer.alloc(batchBytes)
  #filled = 0
  /** Bytes appended. */
  size = 0
  lastByte: number | undefined

  constructor(file: FileHandle) {
    this.#file = file
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.size += bytes.byteLength
    this.lastByte = bytes.at(-1) ?? this.lastByte
    let rest = bytes
    while (rest.byteLength > 0) {
      const part = rest.subarray(0, batchBytes - this.#filled)
      this.#batch.set(part, this.#filled)
      this.#filled += part.byteLength
      rest = rest.subarray(part.byteLength)
      if (this.#filled === batchBytes) await this.finish()
    }
  }

  /** Writes out what was gathered. */
  async finish(): Promise<void> {
    let done = 0
    while (done < this.#filled) {
      const { bytesWritten } = await this.#file.write(this.#batch, done, this.#filled - done)
      done += bytesWritten
    }
    this.#filled = 0
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
