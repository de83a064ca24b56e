/** The bytes behind a resource: out of its data URL, decompressed, and proven where it has a hash. */
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { KnownError } from '../errors/known-error.ts'
import type { File, Resource } from './config.ts'
import { decodeDataUrl, isDataUrl } from './data-url.ts'

/**
 * The bytes of a resource that the config itself holds; undefined where they are somewhere else (http, s3, …). Without a
 * source there are none.
 *
 * @param name names the resource in errors
 * @throws KnownError IGNITION_INVALID for broken data, compression or hash
 */
export function inlineContents(resource: Resource | undefined, name: string): Uint8Array | undefined {
  const source = resource?.source ?? ''
  if (source === '') return new Uint8Array()
  if (!isDataUrl(source)) return undefined
  const { bytes } = decodeDataUrl(source)
  const plain = resource?.compression === 'gzip' ? decompressed(bytes, name) : bytes
  checkHash(plain, resource?.verification?.hash ?? undefined, name)
  return plain
}

/** `contents`, and `append` after it; undefined where a part of it is not in the config. */
export function inlineFile(file: File): Uint8Array | undefined {
  const parts = [file.contents, ...(file.append ?? [])].map((resource) => inlineContents(resource, file.path))
  return parts.includes(undefined) ? undefined : Buffer.concat(parts as readonly Uint8Array[])
}

/** The same as text; what is no UTF-8 becomes U+FFFD. */
export function inlineText(file: File): string | undefined {
  const bytes = inlineFile(file)
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')
}

function decompressed(bytes: Uint8Array, name: string): Uint8Array {
  try {
    return gunzipSync(bytes)
  } catch (cause) {
    throw new KnownError('IGNITION_INVALID', `${name}: compression is gzip, and the data is not`, { cause })
  }
}

function checkHash(bytes: Uint8Array, hash: string | undefined, name: string): void {
  if (hash === undefined || hash === '') return
  const [, algorithm, expected] = /^(sha256|sha512)-([0-9a-fA-F]+)$/.exec(hash) ?? []
  if (algorithm === undefined || expected === undefined)
    throw new KnownError('IGNITION_INVALID', `${name}: ${hash} is no hash: sha256-HEX or sha512-HEX`)
  const actual = createHash(algorithm).update(bytes).digest('hex')
  if (actual === expected.toLowerCase()) return
  throw new KnownError('IGNITION_INVALID', `${name}: its hash is ${algorithm}-${actual}, and the config says ${hash}`)
}
