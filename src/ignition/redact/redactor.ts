/**
 * Takes the secrets out of texts and bytes, however deep they are wrapped: JSON and YAML by what their fields are, everything
 * else by how secrets look; data URLs, base64 and gzip are opened and closed again.
 *
 * What holds no secret comes back as the same object.
 */
import { gzipSync } from 'node:zlib'
import { KnownError } from '../../errors/known-error.ts'
import { type SecretKind, secretKindOfPath } from '../secret-files.ts'
import { changeBase64, changeDataUrls } from './embedded.ts'
import { redactedValue, type ValueRedactor } from './field-rules.ts'
import { isPrivateKey, jsonLike, parsedJson, textOf, unzipped } from './opened-bytes.ts'
import { isMarked, type SecretLedger } from './secret-ledger.ts'
import { isStandIn } from './secret-names.ts'
import { assignmentRule, strongRules, textRules } from './text-rules.ts'
import { replaceScalars, type ValuePlace } from './yaml-scalars.ts'

/** Wrapped more often than that nothing is by accident. */
const maxDepth = 16

export class Redactor implements ValueRedactor {
  readonly ledger: SecretLedger
  readonly #isSweep: boolean
  #depth = 0

  /** @param isSweep true for what is redacted already: secrets that are known are looked for in every encoding */
  constructor(ledger: SecretLedger, { isSweep }: { readonly isSweep: boolean }) {
    this.ledger = ledger
    this.#isSweep = isSweep
  }

  /** Every string of a JSON document. */
  tree(value: unknown, place: ValuePlace = { keys: [], holders: [] }): unknown {
    if (typeof value === 'string') return redactedValue(value, place, this)
    if (typeof value === 'number') {
      const own = redactedValue(String(value), place, this)
      return own === String(value) ? value : own
    }
    if (typeof value !== 'object' || value === null) return value
    const inside = (key: string, own: unknown) =>
      this.tree(own, { keys: [...place.keys, key], holders: [...place.holders, value] })
    if (Array.isArray(value)) {
      const list = value.map((own, index) => inside(String(index), own))
      return list.some((own, index) => own !== value[index]) ? list : value
    }
    const fields = value as Readonly<Record<string, unknown>>
    const entries = Object.entries(fields).map(([key, own]) => [key, inside(key, own)] as const)
    return entries.some(([key, own]) => own !== fields[key]) ? Object.fromEntries(entries) : value
  }

  /**
   * @param path where it is on the machine; empty for what is no file
   * @throws KnownError REDACTION_INCOMPLETE
   */
  text(text: string, path: string): string {
    return this.#deeper(() => {
      const document = parsedJson(text)
      if (document) {
        const own = this.tree(document)
        return own === document ? text : jsonLike(own, text)
      }
      const yaml = isYaml(text, path)
        ? replaceScalars(text, (value, place) => redactedValue(value, place, this))
        : undefined
      const own = this.#plain(yaml ?? text, { isYaml: yaml !== undefined })
      const kind = this.#isSweep || yaml !== undefined ? undefined : secretKindOfPath(path)
      if (kind === 'password hashes') return withoutHashes(own, this.ledger)
      return own === text && kind !== undefined ? this.#wholeFile(text, kind) : own
    })
  }

  /**
   * @param path as in `text`
   * @throws KnownError REDACTION_INCOMPLETE
   */
  bytes(bytes: Uint8Array, path: string): Uint8Array {
    const opened = unzipped(bytes)
    if (opened) {
      const own = this.#deeper(() => this.bytes(opened, path))
      return own === opened ? bytes : gzipSync(own)
    }
    const text = textOf(bytes)
    if (text === undefined) return this.#binary(bytes, path)
    const own = this.text(text, path)
    return own === text ? bytes : Buffer.from(own)
  }

  /** @param isYaml true where names have had their say, but for those in comments */
  #plain(text: string, { isYaml: isDone }: { readonly isYaml: boolean }): string {
    const inner = (bytes: Uint8Array) => this.bytes(bytes, '')
    const apply = (sum: string, rule: (typeof textRules)[number]) => rule.apply(sum, this.ledger)
    // Keys first: their lines are base64 of a key too.
    const opened = changeBase64(changeDataUrls(strongRules.reduce(apply, text), inner), inner, isOpenable)
    const marked = textRules.reduce(apply, opened)
    const assignments = assignmentRule({ isShell: isShell(text) })
    const named = (part: string) => assignments.apply(part, this.ledger)
    const own = isDone ? marked.replace(/(?<=^|\s)#.*$/gm, named) : named(marked)
    return this.#isSweep ? this.ledger.withoutKnown(own) : own
  }

  /** A file that is secret by its place, and whose form nobody knows. */
  #wholeFile(text: string, kind: SecretKind): string {
    // A key that has its marker is found again, and not changed.
    const isDone = kind === 'kubeconfig' || (kind === 'private key' && text.includes('PRIVATE KEY-----'))
    if (isDone || text.trim() === '' || isMarked(text)) return text
    return `${this.ledger.markerOf(text)}\n`
  }

  /** What is no text is not mended in parts: something in it may count its bytes. */
  #binary(bytes: Uint8Array, path: string): Uint8Array {
    const text = Buffer.from(bytes).toString('latin1')
    const isSecret = secretKindOfPath(path) !== undefined || isPrivateKey(bytes)
    if (isSecret || strongRules.some(({ finds }) => finds(text)))
      return Buffer.from(this.ledger.markerOf(text, { isSought: false }))
    const own = this.#isSweep ? this.ledger.withoutKnown(text) : text
    return own === text ? bytes : Buffer.from(own, 'latin1')
  }

  #deeper<T>(action: () => T): T {
    if (this.#depth >= maxDepth)
      throw new KnownError(
        'REDACTION_INCOMPLETE',
        `Something is wrapped more than ${maxDepth} times, and was not opened`,
      )
    this.#depth += 1
    try {
      return action()
    } finally {
      this.#depth -= 1
    }
  }
}

/** Of `NAME:HASH:…` the hash, of whatever kind it is; of a line without names all. */
function withoutHashes(text: string, ledger: SecretLedger): string {
  return text.replace(/^([^:\n]*:)?([^:\n]+)/gm, (line, name: string | undefined, hash: string) =>
    isStandIn(hash, { isShell: false }) || isMarked(hash.replace(/^\$\w+\$/, ''))
      ? line
      : `${name ?? ''}${ledger.markerOf(hash)}`,
  )
}

/** A script, or a unit: in files of settings a `$` is a letter of the password. */
function isShell(text: string): boolean {
  return /^#!|^\[(?:Unit|Service|Install|Socket|Timer|Mount)\]$/m.test(text)
}

function isYaml(text: string, path: string): boolean {
  return /\.ya?ml$|kubeconfig/.test(path) || /^(?:apiVersion|kind|auths|users|clouds|baseDomain):/m.test(text)
}

function isOpenable(bytes: Uint8Array): boolean {
  return unzipped(bytes) !== undefined || isPrivateKey(bytes) || textOf(bytes) !== undefined
}
