/**
 * Every certificate of a config: whose it is, whom it names, and how long it lives.
 *
 * The installer gives 24 hours to what the first API server needs, so a bootstrap config that is older installs nothing.
 *
 * Source: openshift/installer `pkg/asset/tls/{tls,certkey}.go` (ValidityOneDay, ValidityOneYear, ValidityTenYears).
 */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { IgnitionConfig } from '../../ignition/config.ts'
import type { BootstrapFiles, Evidence } from './bootstrap-file.ts'
import { type CertificatePlace, type CertificateText, certificateTexts } from './certificate-texts.ts'

export interface FoundCertificate {
  /** SHA-256 over the certificate, lower case hex: the same in two configs where it is the same certificate. */
  readonly fingerprint: string
  /** In one line: `OU=openshift, CN=root-ca`. */
  readonly subject: string
  readonly issuer: string
  /** Host names and addresses that it is for. */
  readonly names: readonly string[]
  readonly isCa: boolean
  readonly isSelfSigned: boolean
  /** ISO 8601, UTC. */
  readonly notBefore: string
  readonly notAfter: string
  /** True for those of 24 hours. */
  readonly isShortLived: boolean
  /** Whether the private key beside its file is its own; absent where there is none. */
  readonly key?: 'matches' | 'differs' | 'unreadable'
  /** Every place that it stands in. */
  readonly seen: readonly { readonly at: Evidence; readonly place: CertificatePlace }[]
  /** One of `seen`'s PEM texts. */
  readonly pem: string
}

export interface CertificateReport {
  /** Each once, in the order in which the config has them. */
  readonly certificates: readonly FoundCertificate[]
  /** What says that it is a certificate, and is none. */
  readonly broken: readonly Evidence[]
}

interface CertificateOptions {
  /** False saves the time that reading private keys takes; `key` is then absent. */
  readonly checksKeys?: boolean
}

export function readCertificates(
  config: IgnitionConfig,
  files: BootstrapFiles,
  { checksKeys = true }: CertificateOptions = {},
): CertificateReport {
  const broken: Evidence[] = []
  const found = new Map<string, { x509: X509Certificate; texts: CertificateText[] }>()
  for (const [body, texts] of Map.groupBy(certificateTexts(config, files), ({ pem }) => bodyOf(pem))) {
    const [first] = texts
    const x509 = first === undefined ? undefined : parsed(first.pem)
    if (x509 === undefined) broken.push(...texts.map(({ at }) => at))
    else found.set(body, { x509, texts })
  }
  const certificates = [...found.values()].map(({ x509, texts }) => {
    const key = checksKeys ? keyState(x509, texts, files) : undefined
    return { ...described(x509), ...(key !== undefined && { key }), seen: seenOf(texts), pem: texts[0]?.pem ?? '' }
  })
  return { certificates, broken }
}

/**
 * When the first of the cluster's own certificates ends: the config has to be used before. What the host is to trust for
 * others (a mirror's CA) does not count; undefined where there are none.
 */
export function useBefore(certificates: readonly FoundCertificate[]): FoundCertificate | undefined {
  const own = certificates.filter(({ seen }) => seen.some(({ place }) => place === 'tls' || place === 'kubeconfig'))
  return own.reduce<FoundCertificate | undefined>((earliest, one) => {
    return earliest === undefined || one.notAfter < earliest.notAfter ? one : earliest
  }, undefined)
}

/** The same certificate is the same text here, however its lines are broken. */
function bodyOf(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s+/g, '')
}

function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    // Whatever OpenSSL has against it: it is no certificate to anybody.
    return undefined
  }
}

const aDayMs = 25 * 60 * 60 * 1000

function described(x509: X509Certificate): Omit<FoundCertificate, 'key' | 'seen' | 'pem'> {
  const { validFromDate, validToDate } = x509
  return {
    fingerprint: createHash('sha256').update(x509.raw).digest('hex'),
    subject: oneLine(x509.subject),
    issuer: oneLine(x509.issuer),
    names: namesOf(x509.subjectAltName),
    isCa: x509.ca,
    isSelfSigned: x509.subject === x509.issuer,
    notBefore: validFromDate.toISOString(),
    notAfter: validToDate.toISOString(),
    isShortLived: validToDate.getTime() - validFromDate.getTime() <= aDayMs,
  }
}

function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ')
}

function namesOf(subjectAltName: string | undefined): readonly string[] {
  const names = (subjectAltName ?? '').split(/, (?=[A-Za-z ]+:)/)
  return names.flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? [])
}

function seenOf(texts: readonly CertificateText[]): FoundCertificate['seen'] {
  return texts.map(({ at, place }) => ({ at, place }))
}

function keyState(
  x509: X509Certificate,
  texts: readonly CertificateText[],
  files: BootstrapFiles,
): FoundCertificate['key'] {
  const keys = texts.flatMap(({ at, isFirst }) => {
    const file = isFirst ? files.get(at.file.replace(/\.(?:crt|pem)$/, '.key')) : undefined
    return file === undefined || file.path === at.file ? [] : [file.text]
  })
  const [key] = keys
  if (key === undefined) return undefined
  const parsedKey = privateKey(key)
  if (parsedKey === undefined) return 'unreadable'
  return x509.checkPrivateKey(parsedKey) ? 'matches' : 'differs'
}

function privateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    // What OpenSSL says of it could quote the key.
    return undefined
  }
}
