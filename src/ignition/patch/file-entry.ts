/** One entry of `storage.files`: made anew, or changed so that it stays written as it is. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { File, Resource } from '../config.ts'
import { inlineContents } from '../contents.ts'
import { decodeDataUrl, encodeDataUrl, isDataUrl } from '../data-url.ts'
import type { PatchedFile } from './patch.ts'

/** A field to set, or to take out where it has no value: the path is relative to the entry. */
export interface FieldChange {
  readonly at: readonly string[]
  readonly value?: unknown
}

/** As the installer writes it (openshift/installer `pkg/asset/ignition/ignition.go:FileFromBytes`). */
export function newFileEntry({ path, mode, contents, user, group }: PatchedFile): File {
  return {
    overwrite: true,
    path,
    user: { name: user ?? 'root' },
    ...(group !== undefined && { group: { name: group } }),
    contents: { source: encodeDataUrl(contents) },
    mode,
  }
}

/**
 * What has to change in an entry so that it writes `wanted`: nothing where it does already. Bytes are encoded as those that
 * are there, with their media type, percent-encoded or in base64, compressed or not, and their hash is made anew.
 *
 * @throws KnownError IGNITION_INVALID where what is there cannot be read
 */
export function fileEntryChanges(entry: File, wanted: PatchedFile): readonly FieldChange[] {
  const { mode, contents, user, group } = wanted
  const owners = [
    ...(user === undefined || entry.user?.name === user ? [] : [{ at: ['user'], value: { name: user } }]),
    ...(group === undefined || entry.group?.name === group ? [] : [{ at: ['group'], value: { name: group } }]),
  ]
  return [
    ...(hasContents(entry, contents) ? [] : contentsChanges(entry.contents ?? {}, contents)),
    ...(entry.append === undefined || entry.append === null || entry.append.length === 0 ? [] : [{ at: ['append'] }]),
    ...(entry.overwrite === true ? [] : [{ at: ['overwrite'], value: true }]),
    ...owners,
    // Ignition's default, where none is said.
    ...((entry.mode ?? 0o644) === mode ? [] : [{ at: ['mode'], value: mode }]),
  ]
}

/** The bytes of `contents` alone, without what is appended; undefined where they are not in the config. */
export function entryContents(entry: File): Uint8Array | undefined {
  return entry.contents?.source ? inlineContents(entry.contents, entry.path) : undefined
}

function hasContents(entry: File, contents: Uint8Array): boolean {
  const before = entryContents(entry)
  return before !== undefined && Buffer.from(before).equals(contents)
}

function contentsChanges(resource: Resource, contents: Uint8Array): readonly FieldChange[] {
  const { source, compression, verification } = resource
  const hash = verification?.hash
  const renewed = hash ? [{ at: ['contents', 'verification', 'hash'], value: hashLike(hash, contents) }] : []
  if (!source || !isDataUrl(source)) {
    const leftovers = (['compression', 'httpHeaders'] as const).filter((field) => resource[field] !== undefined)
    return [
      { at: ['contents', 'source'], value: encodeDataUrl(contents) },
      ...leftovers.map((field) => ({ at: ['contents', field] })),
      ...renewed,
    ]
  }
  const bytes = compression === 'gzip' ? gzipped(contents) : contents
  return [{ at: ['contents', 'source'], value: encodedLike(source, bytes) }, ...renewed]
}

function encodedLike(source: string, bytes: Uint8Array): string {
  const { mediaType, isBase64 } = decodeDataUrl(source)
  return isBase64 ? encodeDataUrl(bytes, mediaType) : `data:${mediaType},${percentEncoded(bytes)}`
}

/** Everything but the unreserved characters of RFC 3986. */
function percentEncoded(bytes: Uint8Array): string {
  const hex = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  const encoded = (byte: number) => {
    const character = String.fromCharCode(byte)
    return /[A-Za-z0-9._~-]/.test(character) ? character : hex(byte)
  }
  return Array.from(bytes, encoded).join('')
}

/** `sha256-HEX` or `sha512-HEX`, as the hash that is there. */
export function hashLike(hash: string, bytes: Uint8Array): string {
  const algorithm = hash.startsWith('sha256-') ? 'sha256' : 'sha512'
  return `${algorithm}-${createHash(algorithm).update(bytes).digest('hex')}`
}

/** The same bytes on every machine: the header names no time and no operating system (RFC 1952 2.3.1: 255 is unknown). */
export function gzipped(bytes: Uint8Array): Uint8Array {
  const compressed = gzipSync(bytes, { level: 9 })
  compressed[9] = 255
  return compressed
}
