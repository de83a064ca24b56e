/**
 * Cuts a stream of YAML into its documents, one in memory at a time (YAML 1.2.2, chapter 9: a line that begins with `---` or `...`
 * and goes on with white space or not at all ends a document, whatever stands open in it).
 */
import { parseDocument } from 'yaml'
import { parsedJson } from '../errors/parsed-json.ts'
import { type CatalogDocument, DocumentFault, headOf } from './split-document.ts'
import { SplitWindow, type WindowOptions } from './split-window.ts'

/** The tree of a document takes some twenty times its size. */
const maxBytes = 16 * 1024 * 1024
const markLength = 3
const [lineFeed, dash, dot] = [0x0a, 0x2d, 0x2e]

export class YamlSplitter {
  readonly #window: SplitWindow
  /** Up to here the document was searched for its end. */
  #searched = 0

  constructor(options: WindowOptions) {
    this.#window = new SplitWindow(options)
  }

  /** @throws DocumentFault */
  *push(chunk: Uint8Array): Generator<CatalogDocument> {
    this.#window.append(chunk)
    yield* this.#documents(false)
  }

  /** @throws DocumentFault */
  *end(): Generator<CatalogDocument> {
    yield* this.#documents(true)
    const { length } = this.#window.view
    if (length > 0) yield* this.#take(length, length)
  }

  *#documents(isEnd: boolean): Generator<CatalogDocument> {
    for (let mark = this.#findMark(isEnd); mark !== undefined; mark = this.#findMark(isEnd)) {
      yield* this.#take(mark, mark + markLength)
    }
    if (this.#window.view.length > maxBytes) {
      throw this.#fault(`a document of more than ${maxBytes} bytes of YAML; written as JSON it may be larger`, 0)
    }
  }

  /** Where the next line stands that ends a document. */
  #findMark(isEnd: boolean): number | undefined {
    const { view } = this.#window
    for (let at = this.#searched; at >= 0 && at < view.length; ) {
      // What follows the mark has to be known.
      if (at + markLength >= view.length && !isEnd) {
        this.#searched = at
        return undefined
      }
      if (isMark(view, at)) return at
      const end = view.indexOf(lineFeed, at)
      if (end < 0) {
        this.#searched = at
        return undefined
      }
      at = end + 1
      this.#searched = at
    }
    return undefined
  }

  /** The document of the first `length` bytes; `consumed` are done with. */
  *#take(length: number, consumed: number): Generator<CatalogDocument> {
    const { view, offset } = this.#window
    const bytes = view.subarray(0, length)
    const text = bytes.toString('utf8')
    const leading = Buffer.byteLength(/^(?:[ \t]*(?:[#%].*)?\r?(?:\n|$))*/.exec(text)?.[0] ?? '')
    if (leading < length) {
      const value = this.#parse(text, leading)
      yield { offset: offset + leading, length: length - leading - trailingSpace(bytes), value }
    }
    this.#window.consume(consumed)
    this.#searched = 0
  }

  #parse(text: string, start: number): unknown {
    const json = text.trimStart().startsWith('{') ? parsedJson(text) : undefined
    if (json !== undefined) return json
    // Of a key that is there twice the last counts, as for opm: there are catalogs like that.
    const document = parseDocument(text, { merge: true, uniqueKeys: false, prettyErrors: false, logLevel: 'error' })
    const [error] = document.errors
    if (error) throw this.#fault(error.message, Buffer.byteLength(text.slice(0, error.pos[0])))
    try {
      return document.toJS({ maxAliasCount: 100 })
    } catch (cause) {
      // An alias without an anchor, or more of them than anybody writes.
      if (!(cause instanceof ReferenceError)) throw cause
      throw this.#fault(cause.message, start)
    }
  }

  #fault(why: string, at: number): DocumentFault {
    const { offset, view } = this.#window
    return new DocumentFault(why, { offset: offset + at, head: headOf(view) })
  }
}

function isMark(bytes: Buffer, at: number): boolean {
  const mark = bytes[at]
  if (mark !== dash && mark !== dot) return false
  if (bytes[at + 1] !== mark || bytes[at + 2] !== mark) return false
  const next = bytes[at + markLength]
  return next === undefined || next === 0x20 || next === 0x09 || next === 0x0d || next === lineFeed
}

function trailingSpace(bytes: Buffer): number {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] ?? 0) <= 0x20) end -= 1
  return bytes.length - end
}
