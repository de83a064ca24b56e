/**
 * Data URLs (RFC 2397), as Ignition reads them.
 *
 * Source: github.com/vincent-petithory/dataurl `dataurl.go`, which coreos/ignition uses in `config/v3_6/types/url.go`.
 */
import { KnownError } from '../errors/known-error.ts'

export interface DataUrl {
  /** What stands between `data:` and the comma without `;base64`: a media type with its parameters, or nothing. */
  readonly mediaType: string
  readonly isBase64: boolean
  readonly bytes: Uint8Array
}

export function isDataUrl(source: string): boolean {
  return source.startsWith('data:')
}

/** @throws KnownError IGNITION_INVALID */
export function decodeDataUrl(source: string): DataUrl {
  const comma = source.indexOf(',')
  if (!isDataUrl(source) || comma < 0) throw invalid('a data URL has to be data:[TYPE][;base64],DATA')
  const head = source.slice('data:'.length, comma)
  const data = source.slice(comma + 1)
  const isBase64 = /;base64$/.test(head)
  const mediaType = isBase64 ? head.slice(0, -';base64'.length) : head
  return { mediaType, isBase64, bytes: isBase64 ? decodeBase64(data) : decodePercent(data) }
}

/** As the installer writes them (openshift/installer `pkg/asset/ignition/ignition.go:FileFromBytes`). */
export function encodeDataUrl(bytes: Uint8Array | string, mediaType = 'text/plain;charset=utf-8'): string {
  return `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`
}

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/

function decodeBase64(data: string): Uint8Array {
  // What is percent-encoded in it is decoded first: `%3D` for `=`.
  const text = data.includes('%') ? Buffer.from(decodePercent(data)).toString('latin1') : data
  const plain = text.replace(/[\r\n]/g, '')
  if (!base64Pattern.test(plain) || plain.length % 4 !== 0) throw invalid('the data of a data URL is not base64')
  return Buffer.from(plain, 'base64')
}

function decodePercent(data: string): Uint8Array {
  const bytes = Buffer.from(data, 'utf8')
  if (!data.includes('%')) return bytes
  const out: number[] = []
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte !== 0x25) {
      out.push(byte)
      continue
    }
    const hex = bytes.subarray(at + 1, at + 3).toString('latin1')
    if (!/^[0-9a-fA-F]{2}$/.test(hex)) throw invalid(`%${hex} is no percent-encoding`)
    out.push(Number.parseInt(hex, 16))
    at += 2
  }
  return Uint8Array.from(out)
}

function invalid(why: string): KnownError {
  return new KnownError('IGNITION_INVALID', `broken data URL: ${why}`)
}
