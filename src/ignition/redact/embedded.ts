/** Texts and bytes inside a text: data URLs, and base64 by itself. */
import { decodeDataUrl, encodeDataUrl } from '../data-url.ts'

type Change = (bytes: Uint8Array) => Uint8Array

/** The bytes of a data URL changed; one that is broken, or whose bytes stay, is the same text. */
export function changeDataUrl(url: string, change: Change): string {
  const decoded = decodedUrl(url)
  if (!decoded) return url
  const { bytes, isBase64, mediaType } = decoded
  const own = change(bytes)
  if (own === bytes) return url
  return isBase64 ? encodeDataUrl(own, mediaType) : `data:${mediaType},${percentEncoded(own)}`
}

function decodedUrl(url: string): ReturnType<typeof decodeDataUrl> | undefined {
  try {
    return decodeDataUrl(url)
  } catch {
    return undefined
  }
}

function percentEncoded(bytes: Uint8Array): string {
  return [...bytes]
    .map((byte) => String.fromCharCode(byte))
    .map((letter) => (/[\w.~-]/.test(letter) ? letter : `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`))
    .join('')
}

const dataUrls = /\bdata:[\w/+.-]*(?:;[\w.+-]+(?:=[\w.+-]*)?)*,[\w.~!*'()%;/?:@&=+$,#-]*/g

/** Every data URL of a text changed. */
export function changeDataUrls(text: string, change: Change): string {
  return text.includes('data:') ? text.replace(dataUrls, (url) => changeDataUrl(url, change)) : text
}

/** A block of lines, or a word; in one that is shorter nothing is hidden that is not seen as it is. */
const base64Runs =
  /(?<![\w+/-])(?:(?:[A-Za-z0-9+/]{32,}\r?\n[ \t]*)+[A-Za-z0-9+/]+={0,2}|[\w+/-]{16,}={0,2}(?![\w+/=-]))/g

/** Everything that is base64 of a text, or of bytes that `isWanted`, changed. */
export function changeBase64(text: string, change: Change, isWanted: (bytes: Uint8Array) => boolean): string {
  const changed = (run: string): string | undefined => {
    const bytes = base64Bytes(run)
    if (!bytes || !isWanted(bytes)) return undefined
    const own = change(bytes)
    return own === bytes ? run : encodedLike(own, run)
  }
  return text.replace(base64Runs, (run) => {
    const lines = run.split('\n')
    if (lines.length === 1) return changed(run) ?? run
    // The word behind a block, `EOF`, can look like its last line; and lines can be whole by themselves.
    const block = lines.slice(0, -1).join('\n')
    const shorter = changed(run) === undefined ? changed(block) : undefined
    if (shorter !== undefined) return `${shorter}\n${lines.at(-1)}`
    return changed(run) ?? lines.map((line) => changed(line) ?? line).join('\n')
  })
}

/** The bytes of what is base64 and nothing else, of either alphabet, with line ends in it or not. */
export function base64Bytes(text: string): Uint8Array | undefined {
  const plain = text.replace(/\s/g, '')
  if (!/^(?:[A-Za-z0-9+/]+|[\w-]+)={0,2}$/.test(plain)) return undefined
  const bytes = Buffer.from(plain, 'base64')
  const isWhole = bytes.toString('base64url') === plain.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')
  return isWhole && bytes.byteLength > 0 ? bytes : undefined
}

/** With the alphabet, the padding and the length of the lines of another. */
export function encodedLike(bytes: Uint8Array, example: string): string {
  const isUrl = /[-_]/.test(example)
  const encoded = Buffer.from(bytes).toString(isUrl ? 'base64url' : 'base64')
  const [first = '', second] = example.split('\n')
  const isPadded = example.endsWith('=') || example.replace(/\s/g, '').length % 4 === 0
  const own = isUrl || isPadded ? encoded : encoded.replace(/=+$/, '')
  if (second === undefined) return own
  const indent = /^[ \t]*/.exec(second)?.[0] ?? ''
  return (own.match(new RegExp(`.{1,${first.trim().length}}`, 'g')) ?? []).join(`\n${indent}`)
}
