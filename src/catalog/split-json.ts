/**
 * Cuts a stream of JSON objects into documents, one in memory at a time (operator-framework/operator-registry
 * `alpha/declcfg/load.go`, WalkMetasReader: objects one after the other, with anything of white space between them).
 *
 * Where an object ends is guessed first: at a `}` at the beginning of a line for one that is printed over several lines, at the end
 * of its line for one that is not. No line ends inside a JSON string, and a text that is one object is never the beginning of a
 * longer one: parsing, which is needed anyway, proves the guess. Only where it was wrong bytes are looked at one by one.
 */

import { parsedJson } from '../errors/parsed-json.ts'
import { type CatalogDocument, DocumentFault, headOf } from './split-document.ts'
import { JsonFault, JsonScanner } from './split-json-scanner.ts'
import { SplitWindow, type WindowOptions } from './split-window.ts'

/** From here on a document loses its long strings; bundles of today have some hundred kilobytes. */
const giantBytes = 8 * 1024 * 1024
/** What a giant document loses: an icon, a manifest in base64, or what nobody should have put there. */
const longStringBytes = 64 * 1024
/** What is left of it may have this much. */
const maxBytes = 32 * 1024 * 1024
/** In a file where guesses are wrong no more are made. */
const maxWrongGuesses = 3

const lineFeed = 0x0a
const closing = Buffer.from('\n}')
const separator = Buffer.from('---')

export class JsonSplitter {
  readonly #window: SplitWindow
  #scanner: JsonScanner | undefined
  /** Up to here the document was searched for its end. */
  #searched = 0
  #wrongGuesses = 0

  constructor(options: WindowOptions) {
    this.#window = new SplitWindow(options)
  }

  /** @throws DocumentFault */
  *push(chunk: Uint8Array): Generator<CatalogDocument> {
    this.#window.append(chunk)
    yield* this.#documents(false)
  }

  /** @throws DocumentFault where the file ends inside a document */
  *end(): Generator<CatalogDocument> {
    yield* this.#documents(true)
  }

  *#documents(isEnd: boolean): Generator<CatalogDocument> {
    while (this.#skipToDocument()) {
      const document = this.#guess(isEnd) ?? this.#scan(isEnd)
      if (!document) return
      yield document
    }
  }

  /** True where the window begins with a document. */
  #skipToDocument(): boolean {
    const { view } = this.#window
    let at = 0
    while (at < view.length && isSpace(view[at] ?? 0)) at += 1
    if (at > 0) this.#window.consume(at)
    const rest = view.subarray(at, at + separator.length + 1)
    if (rest.length === 0) return false
    if (rest[0] === 0x7b) return true
    // As in YAML; printers of JSON put it there as well.
    if (separator.subarray(0, rest.length).equals(rest)) return false
    if (rest.subarray(0, separator.length).equals(separator) && isSpace(rest[separator.length] ?? 0)) {
      this.#window.consume(separator.length)
      return this.#skipToDocument()
    }
    const found = JSON.stringify(String.fromCharCode(rest[0] ?? 0))
    throw this.#fault(`a document begins with {, not with ${found}`, 0)
  }

  #guess(isEnd: boolean): CatalogDocument | undefined {
    if (this.#scanner || this.#wrongGuesses >= maxWrongGuesses) return undefined
    const { view } = this.#window
    const end = this.#guessEnd(view, isEnd)
    if (end === undefined) {
      // So the bytes that a later guess looks at are new ones, but for half of the mark.
      this.#searched = Math.max(0, view.length - 1)
      return undefined
    }
    const value = parsedJson(view.toString('utf8', 0, end))
    if (value !== undefined) {
      this.#wrongGuesses = 0
      let length = end
      while (isSpace(view[length - 1] ?? 0)) length -= 1
      return this.#take(length, value)
    }
    this.#wrongGuesses += 1
    this.#startScan()
    return undefined
  }

  #guessEnd(view: Buffer, isEnd: boolean): number | undefined {
    if (view.length < 3) return isEnd ? view.length : undefined
    const isPrinted = view[1] === lineFeed || (view[1] === 0x0d && view[2] === lineFeed)
    const found = isPrinted ? view.indexOf(closing, this.#searched) : view.indexOf(lineFeed, this.#searched)
    if (found >= 0) return isPrinted ? found + closing.length : found
    return isEnd ? view.length : undefined
  }

  #startScan(): JsonScanner {
    this.#searched = 0
    this.#scanner = new JsonScanner(longStringBytes)
    return this.#scanner
  }

  #scan(isEnd: boolean): CatalogDocument | undefined {
    const isNeeded = isEnd || this.#wrongGuesses >= maxWrongGuesses || this.#window.view.length > giantBytes
    if (!this.#scanner && !isNeeded) return undefined
    const scanner = this.#scanner ?? this.#startScan()
    const found = this.#scanOn(scanner)
    if (found === undefined && isEnd) throw this.#fault('the file ends inside a document', this.#window.view.length)
    const scanned = found ?? this.#window.view.length
    this.#searched = scanned - (scanned > giantBytes || this.#window.dropped > 0 ? this.#dropLong(scanner, scanned) : 0)
    if (this.#window.view.length > maxBytes && (found === undefined || this.#searched > maxBytes)) {
      throw this.#fault(`a document of more than ${maxBytes} bytes, even without its long texts`, 0)
    }
    if (found === undefined) return undefined
    const value = parsedJson(this.#window.view.toString('utf8', 0, this.#searched))
    if (value === undefined) throw this.#fault('it is no JSON', 0)
    return this.#take(this.#searched, value)
  }

  #scanOn(scanner: JsonScanner): number | undefined {
    try {
      return scanner.scan(this.#window.view, this.#searched)
    } catch (error) {
      if (error instanceof JsonFault) throw this.#fault(error.message, error.at)
      throw error
    }
  }

  /** @returns how many bytes are gone */
  #dropLong(scanner: JsonScanner, end: number): number {
    const before = this.#window.dropped
    for (const [from, to] of scanner.takeLongStrings(end).toReversed()) this.#window.drop(from, to)
    return this.#window.dropped - before
  }

  #take(length: number, value: unknown): CatalogDocument {
    const { offset, dropped } = this.#window
    this.#window.consume(length)
    this.#searched = 0
    this.#scanner = undefined
    return { offset, length: length + dropped, value }
  }

  #fault(why: string, at: number): DocumentFault {
    const { offset, dropped, view } = this.#window
    return new DocumentFault(why, { offset: offset + dropped + at, head: headOf(view) })
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === lineFeed || byte === 0x0d || byte === 0x09
}
