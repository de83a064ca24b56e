/** Signatures that travel: as documents of an archive, and as the files that oc-mirror puts into its own. */
import { algorithmOf, type Digest, hexOf } from '../oci/digest.ts'
import type { ReleaseSignature, SignatureSource } from './signature-source.ts'

/** The name of the `number`th signature of a release among the documents of an archive. */
function signatureDocumentName(digest: Digest, number: number): string {
  return `signatures/${algorithmOf(digest)}-${hexOf(digest)}-${number}`
}

/** The documents that carry these signatures, numbered from 1. */
export function signatureDocuments(digest: Digest, signatures: readonly ReleaseSignature[]): Map<string, Uint8Array> {
  return new Map(signatures.map(({ bytes }, index) => [signatureDocumentName(digest, index + 1), bytes]))
}

/** Signatures among the documents of an archive. */
export function signaturesFromDocuments(documents: ReadonlyMap<string, Uint8Array>): SignatureSource {
  return {
    readSignatures: async (digest) => {
      const prefix = signatureDocumentName(digest, 0).slice(0, -1)
      const named = [...documents].flatMap(([name, bytes]) => {
        const number = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0
        return Number.isInteger(number) && number > 0 ? [{ number, bytes }] : []
      })
      return named.toSorted((one, other) => one.number - other.number)
    },
  }
}

/**
 * Signatures among the files of an oc-mirror archive: `working-dir/signatures/<tag>-sha256-<hex>`, and those of further ones as
 * `SignatureDirectory` names them.
 *
 * @param read the bytes of a file that is named in `names`
 */
export function signaturesFromOcMirror(
  names: Iterable<string>,
  read: (name: string, signal: AbortSignal) => Promise<Uint8Array>,
): SignatureSource {
  const files = [...names].filter((name) => /(?:^|\/)signatures\/[^/]+$/.test(name))
  return {
    readSignatures: async (digest, signal) => {
      const found: Uint8Array[] = []
      for (const name of signatureFilesOf(digest, files)) {
        const bytes = await read(name, signal)
        if (found.every((known) => !Buffer.from(known).equals(bytes))) found.push(bytes)
      }
      return found.map((bytes, index) => ({ number: index + 1, bytes }))
    },
  }
}

/** The files, by path or name, that hold signatures of a release, in the order of their numbers. */
export function signatureFilesOf(digest: Digest, names: readonly string[]): string[] {
  const pattern = new RegExp(`-${algorithmOf(digest)}-${hexOf(digest)}(?:-([0-9]+))?$`)
  const numbered = names.flatMap((name) => {
    const match = pattern.exec(name)
    return match === null ? [] : [{ name, number: Number(match[1] ?? 1) }]
  })
  const inOrder = numbered.toSorted((one, other) => one.number - other.number || (one.name < other.name ? -1 : 1))
  return inOrder.map(({ name }) => name)
}
