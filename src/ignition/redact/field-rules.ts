/** Secrets that are told by where they stand in a document: fields of Secrets, pull secrets, kubeconfigs, Ignition configs. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { base64Bytes, changeDataUrl, encodedLike } from './embedded.ts'
import { textOf, unzipped } from './opened-bytes.ts'
import { redactedAuth } from './registry-auth.ts'
import { isMarked, type SecretLedger } from './secret-ledger.ts'
import { isSecretName, isStandIn } from './secret-names.ts'
import type { ValuePlace } from './yaml-scalars.ts'

/** What a value is redacted with, and what is in it. */
export interface ValueRedactor {
  readonly ledger: SecretLedger
  text(text: string, path: string): string
  bytes(bytes: Uint8Array, path: string): Uint8Array
}

type Fields = Readonly<Record<string, unknown>>

/** The value, or what stands for it. */
export function redactedValue(value: string, place: ValuePlace, redactor: ValueRedactor): string {
  if (value === '' || isMarked(value)) return value
  const { keys, holders } = place
  const inSecret = secretField(place)
  if (inSecret !== undefined) return secretValue(value, inSecret === 'data', redactor)
  // Of an entry of a list the name is that of the list.
  const name = keys.findLast((key) => !/^\d+$/.test(key)) ?? ''
  const holder = fieldsOf(holders.at(-1))
  const auths = keys.indexOf('auths')
  const auth = name === 'auth' ? redactedAuth(value, redactor.ledger) : undefined
  if (auth !== undefined) return auth
  if (auths >= 0 && keys.length - auths > 2) return redactor.ledger.markerOf(value)
  if (name === 'source' && value.startsWith('data:')) {
    return keys.includes('keyFile') ? markedData(value, redactor) : redactedSource(value, place, redactor)
  }
  if (name === 'hash' && keys.at(-2) === 'verification') return hashOf(value, place, redactor)
  // The private parts of a JSON web key (RFC 7517).
  if (typeof holder['kty'] === 'string' && /^(?:d|p|q|dp|dq|qi|k)$/.test(name)) return redactor.ledger.markerOf(value)
  if (name === 'value' && keys.includes('httpHeaders')) return redactor.ledger.markerOf(value)
  if (/^ssh_?(?:authorized_?)?keys?$/i.test(name)) return markedWhole(value, false, redactor)
  // A variable of a container: its name is another field.
  const said = name === 'value' && typeof holder['name'] === 'string' ? holder['name'] : name
  if (isSecretName(said) && !isStandIn(value, { isShell: false }))
    return markedWhole(value, /data$/i.test(said), redactor)
  return redactor.text(value, '')
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

/** Which part of a Secret a value stands in; of a list of them, or of one inside of another document, too. */
function secretField({ keys, holders }: ValuePlace): 'data' | 'stringData' | undefined {
  const index = holders.findLastIndex((holder) => fieldsOf(holder)['kind'] === 'Secret')
  const field = index < 0 ? undefined : keys[index]
  return field === 'data' || field === 'stringData' ? field : undefined
}

/** What is in a Secret need not be one: names and addresses are not looked for elsewhere. */
const addresses = /^[\w.+-]+@[\w.-]+$|^[a-z][a-z+]*:\/\/[^@]*$|^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*(?::\d+)?$|^\//

function secretValue(value: string, isBase64: boolean, redactor: ValueRedactor): string {
  const bytes = isBase64 ? (base64Bytes(value) ?? Buffer.from(value)) : Buffer.from(value)
  const text = Buffer.from(bytes).toString('utf8')
  if (isMarked(text) || /^(?:true|false)\s*$/.test(text)) return value
  const isSought = text.length >= 12 && !addresses.test(text)
  const own = isOfKnownForm(text) ? redactor.text(text, '') : redactor.ledger.markerOf(text, { isSought })
  if (own === text) return value
  return isBase64 ? encodedLike(Buffer.from(own), 'AAA=') : own
}

/** What is redacted by its parts, and all of it: credentials keep their hosts, PEM its certificates. */
function isOfKnownForm(text: string): boolean {
  const isPem =
    /^\s*-----BEGIN/.test(text) &&
    text.replace(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g, '').trim() === ''
  return isPem || /^\s*\{\s*"(?:auths"|[^"]+"\s*:\s*\{\s*"(?:auth|username|password|email)")/.test(text)
}

/**
 * The whole value, but for what says of which kind it is.
 *
 * @param isData true for a field that is base64 of what it holds, as `client-key-data`
 */
function markedWhole(value: string, isData: boolean, redactor: ValueRedactor): string {
  const text = isData ? textIn(value) : value
  if (text === undefined) return Buffer.from(redactor.ledger.markerOf(value)).toString('base64')
  if (isAllMarked(text)) return value
  const parts = redactor.text(text, '')
  const own = isOfKnownForm(text) || isAllMarked(parts) ? parts : redactor.ledger.markerOf(text)
  if (own === text) return value
  return isData ? encodedLike(Buffer.from(own), 'AAA=') : own
}

/** A marker, with what says of which kind the secret was: `$6$`, `ssh-rsa`. */
function isAllMarked(text: string): boolean {
  return isMarked(text.trim().replace(/^\$\w+\$|^sha256~|^\S+ (?=REDACTED-\d)| redacted$/g, ''))
}

/** The text that is base64 in a field. */
function textIn(value: string): string | undefined {
  const bytes = base64Bytes(value)
  return bytes && textOf(bytes)
}

/** The key of a disk: all of it, whatever it is. */
function markedData(value: string, { ledger }: ValueRedactor): string {
  return changeDataUrl(value, (bytes) => {
    const text = Buffer.from(bytes).toString('latin1')
    return isMarked(text) || text === '' ? bytes : Buffer.from(ledger.markerOf(text))
  })
}

/** @param place of the field `source` */
function redactedSource(value: string, place: ValuePlace, redactor: ValueRedactor): string {
  const isCompressed = fieldsOf(place.holders.at(-1))['compression'] === 'gzip'
  return changeDataUrl(value, (bytes) => {
    const own = redactor.bytes(bytes, pathOf(place))
    // What was taken out as a whole is compressed again.
    return isCompressed && own !== bytes && own[0] !== 0x1f ? gzipSync(own) : own
  })
}

/** The file that a resource belongs to. */
function pathOf({ holders }: ValuePlace): string {
  const paths = holders.map((holder) => fieldsOf(holder)['path'])
  const path = paths.findLast((one) => typeof one === 'string' && one.startsWith('/'))
  return typeof path === 'string' ? path : ''
}

/** Of what is in the place of the secret: the hash of a short secret would give it away. */
function hashOf(value: string, place: ValuePlace, redactor: ValueRedactor): string {
  const [, algorithm] = /^(sha256|sha512)-/.exec(value) ?? []
  const resource = fieldsOf(place.holders.at(-2))
  const { source } = resource
  const isKey = place.keys.includes('keyFile')
  if (typeof source !== 'string' || !source.startsWith('data:') || algorithm === undefined) return value
  const above = { keys: place.keys.slice(0, -1), holders: place.holders.slice(0, -1) }
  const own = isKey ? markedData(source, redactor) : redactedSource(source, above, redactor)
  if (own === source) return value
  const hash = createHash(algorithm)
  changeDataUrl(own, (bytes) => {
    hash.update((resource['compression'] === 'gzip' ? unzipped(bytes) : undefined) ?? bytes)
    return bytes
  })
  return `${algorithm}-${hash.digest('hex')}`
}
