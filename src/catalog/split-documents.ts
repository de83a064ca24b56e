/** A file of a catalog, cut into its documents, JSON or YAML by its first byte as `opm` does (k8s.io/apimachinery `pkg/util/yaml/decoder.go`). */
import type { CatalogDocument } from './split-document.ts'
import { JsonSplitter } from './split-json.ts'
import type { WindowOptions } from './split-window.ts'
import { YamlSplitter } from './split-yaml.ts'

interface Splitter {
  push(chunk: Uint8Array): Iterable<CatalogDocument>
  end(): Iterable<CatalogDocument>
}

/** So much of a file comes at once; what is smaller needs no more room than that. */
const usualWindowBytes = 512 * 1024
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * @param sizeBytes of the whole file, as far as it is known
 * @throws DocumentFault, and what `chunks` throws
 */
export async function* splitDocuments(
  chunks: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): AsyncGenerator<CatalogDocument> {
  const expectedBytes = Math.min(usualWindowBytes, sizeBytes)
  let splitter: Splitter | undefined
  let head: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (splitter) {
      yield* splitter.push(chunk)
      continue
    }
    head = Buffer.concat([head, chunk])
    const offset = markLength(head)
    splitter = chooseSplitter(head.subarray(offset), { expectedBytes, offset })
    if (splitter) yield* splitter.push(head.subarray(offset))
  }
  if (splitter) yield* splitter.end()
}

/** Undefined while nothing but white space has come, or a part of the mark. */
function chooseSplitter(head: Buffer, options: WindowOptions): Splitter | undefined {
  const first = head.find((byte) => byte > 0x20)
  if (first === undefined || byteOrderMark.subarray(0, head.length).equals(head)) return undefined
  return first === 0x7b ? new JsonSplitter(options) : new YamlSplitter(options)
}

/** In bytes; 0 where there is none. */
function markLength(head: Buffer): number {
  return head.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0
}
