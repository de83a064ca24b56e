/**
 * Data URLs (RFC 2397), exactly as far as Ignition takes them: base64 in the alphabet of RFC 4648 with its padding and
 * without spaces, plain data without the characters that a URL may not hold.
 *
 * Source: github.com/vincent-petithory/dataurl `dataurl.go`, `lex.go`, `rfc2396.go`, which coreos/ignition uses in
 * `config/v3_6/types/url.go`; Go `src/encoding/base64/base64.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import { percentFault, readDataUrlHead } from './data-url-head.ts'

export interface DataUrl {
  /** What stands between `data:` and the comma without `;base64`: a media type with its parameters, or nothing. */
  readonly mediaType: string
  readonly isBase64: boolean
  readonly bytes: Uint8Array
}

export function isDataUrl(source: string): boolean {
  return source.startsWith('data:')
}

/** @throws KnownError IGNITION_INVALID for a URL that Ignition would refuse */
export function decodeDataUrl(source: string): DataUrl {
  const fault = dataUrlFault(source)
  if (fault !== undefined) throw new KnownError('IGNITION_INVALID', `broken data URL: ${fault}`)
  const { dataStart, isBase64 } = headOf(source)
  const head = source.slice('data:'.length, dataStart - 1)
  const data = source.slice(dataStart)
  return {
    mediaType: isBase64 ? head.slice(0, -';base64'.length) : head,
    isBase64,
    bytes: isBase64 ? Buffer.from(data, 'base64') : decodePercent(data),
  }
}

/** Why Ignition would refuse a data URL, in its words; undefined where it takes it. */
export function dataUrlFault(source: string): string | undefined {
  const head = readDataUrlHead(source)
  if ('fault' in head) return head.fault
  const data = source.slice(head.dataStart)
  return head.isBase64 ? base64Fault(data) : plainFault(data)
}

/** As the installer writes them (openshift/installer `pkg/asset/ignition/ignition.go:FileFromBytes`). */
export function encodeDataUrl(bytes: Uint8Array | string, mediaType = 'text/plain;charset=utf-8'): string {
  return `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`
}

function headOf(source: string): { readonly dataStart: number; readonly isBase64: boolean } {
  const head = readDataUrlHead(source)
  return 'fault' in head ? { dataStart: source.length, isBase64: false } : head
}

function plainFault(data: string): string | undefined {
  if (/[^!$-;=?-Z_a-z~]/.test(data)) return 'invalid data character'
  return percentFault(data)
}

function base64Fault(data: string): string | undefined {
  if (/[^A-Za-z0-9+/=\n]/.test(data)) return 'invalid data character'
  const at = faultyByte(data)
  return at === undefined ? undefined : `illegal base64 data at input byte ${at}`
}

/** Where Go stops (`decodeQuantum`): at padding that is too early or too late, or where an unfinished group begins. */
function faultyByte(data: string): number | undefined {
  const padding = data.indexOf('=')
  const before = padding < 0 ? data : data.slice(0, padding)
  const inGroup = before.replaceAll('\n', '').length % 4
  if (padding < 0) return inGroup === 0 ? undefined : data.length - inGroup
  if (inGroup < 2) return padding
  let at = behindNewlines(data, padding + 1)
  if (inGroup === 2) {
    if (data[at] !== '=') return at === data.length ? at : at - 1
    at = behindNewlines(data, at + 1)
  }
  return at === data.length ? undefined : at
}

function behindNewlines(data: string, start: number): number {
  let at = start
  while (data[at] === '\n') at += 1
  return at
}

function decodePercent(data: string): Uint8Array {
  const bytes = Buffer.from(data, 'latin1')
  if (!data.includes('%')) return bytes
  const out = Buffer.alloc(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const isEscape = bytes[at] === 0x25
    out[length] = isEscape ? Number.parseInt(bytes.toString('latin1', at + 1, at + 3), 16) : (bytes[at] ?? 0)
    length += 1
    if (isEscape) at += 2
  }
  return out.subarray(0, length)
}
