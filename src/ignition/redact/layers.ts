/**
 * Everything that can be read in a document, opened as far as it goes: strings, data URLs, base64, gzip. Written apart from what
 * redacts, because it proves it.
 */
import { gunzipSync } from 'node:zlib'

export interface Layer {
  readonly text: string
  /** The path of the file that it is in, or the name of a field. */
  readonly place: string
}

/** Bytes that are no text come in latin1. */
export function layersOf(document: unknown): readonly Layer[] {
  const layers: Layer[] = [{ text: JSON.stringify(document), place: 'the config' }]
  walk(document, '', layers)
  return layers
}

function walk(value: unknown, place: string, layers: Layer[]): void {
  if (typeof value === 'string') openText(value, place, layers)
  if (typeof value !== 'object' || value === null) return
  const { path, name } = value as { readonly path?: unknown; readonly name?: unknown }
  const own = [path, name].find((one) => typeof one === 'string')
  for (const [key, field] of Object.entries(value)) {
    openText(key, place, layers)
    walk(field, typeof own === 'string' ? own : place || key, layers)
  }
}

const wrapped = /data:[^,\s"']*,([^\s"'<>]*)|[A-Za-z0-9+/_-]{12,}(?:\s+[A-Za-z0-9+/_-]{12,})*={0,2}/g

function openText(text: string, place: string, layers: Layer[]): void {
  layers.push({ text, place })
  for (const [match, data] of text.matchAll(wrapped)) {
    const source = data ?? match
    if (data?.includes('%')) openBytes(Buffer.from(unescaped(data), 'latin1'), { text, place }, layers)
    const plain = source.replace(/\s/g, '')
    if (plain.length >= 12) openBytes(Buffer.from(plain, 'base64'), { text, place }, layers)
  }
}

function unescaped(data: string): string {
  return data.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** @param outer what the bytes came out of: of noise nothing is opened again */
function openBytes(bytes: Buffer, { text, place }: Layer, layers: Layer[]): void {
  const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? unzipped(bytes) : bytes
  const inner = plain.toString('utf8')
  if (inner.includes('\uFFFD')) layers.push({ text: plain.toString('latin1'), place })
  else if (inner.length < text.length * 1100) openText(inner, place, layers)
}

function unzipped(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: 1 << 28 })
  } catch {
    return bytes
  }
}
