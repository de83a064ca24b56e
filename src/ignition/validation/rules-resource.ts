/**
 * Rules for whatever is fetched or given as a data URL.
 *
 * Source: coreos/ignition `config/v3_N/types/{resource,verification,headers}.go`; of 3.0 `file.go`, `ca.go`.
 */
import type { HttpHeader, Resource, Verification } from '../config.ts'
import { parseGoUrl } from '../go-url.ts'
import { messages } from './messages.ts'
import type { Place } from './place.ts'
import { optionalSourceFault, sourceFault } from './source-rule.ts'

export function checkResource(resource: Resource, place: Place): void {
  const { compression, verification, source } = resource
  if (compression && compression !== 'gzip') place.error(messages.invalidCompression, 'compression')
  if (verification?.hash !== undefined && source === undefined)
    place.error(messages.verificationWithoutSource, 'verification', 'hash')
  place.error(optionalSourceFault(source, place.minor), 'source')
  place.error(headersFault(resource), 'httpHeaders')
}

/** A child config of 3.0. */
export function checkConfigReference({ source }: Resource, place: Place): void {
  place.error(optionalSourceFault(source, place.minor), 'source')
}

/** A certificate authority of 3.0. */
export function checkCaReference({ source }: Resource, place: Place): void {
  place.error(sourceFault(source ?? '', place.minor), 'source')
}

function headersFault({ httpHeaders = [], source }: Resource): string | undefined {
  if (httpHeaders.length === 0) return undefined
  const url = source ? parseGoUrl(source) : undefined
  if (!url) return messages.invalidUrl
  return url.scheme === 'http' || url.scheme === 'https' ? undefined : messages.headersWithScheme
}

export function checkHeader({ name, value }: HttpHeader, place: Place): void {
  if (name === '') place.error(messages.emptyHeaderName, 'name')
  if (value === '') place.error(messages.invalidHeader, 'value')
}

/** Of their hex digits. */
const hashLengths: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha512', 128],
])

export function checkVerification({ hash }: Verification, place: Place): void {
  if (typeof hash === 'string') place.error(hashFault(hash, place.minor), 'hash')
}

function hashFault(hash: string, minor: number): string | undefined {
  const dash = hash.indexOf('-')
  if (dash < 0) return messages.malformedHash
  const algorithm = hash.slice(0, dash)
  const length = minor === 0 && algorithm === 'sha256' ? undefined : hashLengths.get(algorithm)
  if (length === undefined) return messages.unknownHash
  return Buffer.byteLength(hash.slice(dash + 1)) === length ? undefined : messages.hashSize
}
