/** What travels in an archive beside images: answers of the update graph, and signatures of releases. */
import { gunzipSync, gzipSync } from 'node:zlib'
import type { ArchiveRecord } from '../archive/format/records.ts'
import { KnownError } from '../errors/known-error.ts'

/** By name. */
export type Documents = ReadonlyMap<string, Uint8Array>

/** A hostile archive may name a document that unpacks to more than any answer of an update graph. */
const maxDocumentBytes = 64 * 1024 * 1024

/** Sorted by name: the same documents give the same archive. */
export function packDocuments(documents: Documents): Pick<ArchiveRecord, 'documents'> {
  if (documents.size === 0) return {}
  const packed = [...documents].map(([name, bytes]) => ({
    name,
    content: gzipSync(bytes, { level: 9 }).toString('base64'),
  }))
  return { documents: packed.sort((a, b) => (a.name < b.name ? -1 : 1)) }
}

/** @throws KnownError ARCHIVE_INVALID */
export function unpackDocuments({ documents = [] }: Pick<ArchiveRecord, 'documents'>, origin: string): Documents {
  return new Map(
    documents.map(({ name, content }) => {
      try {
        return [name, gunzipSync(Buffer.from(content, 'base64'), { maxOutputLength: maxDocumentBytes })]
      } catch (cause) {
        throw new KnownError('ARCHIVE_INVALID', `${origin}: the document ${name} cannot be unpacked`, {
          details: { archive: origin, document: name },
          cause,
        })
      }
    }),
  )
}
