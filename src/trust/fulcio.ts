/**
 * Certificates that sign images: of Fulcio for a person or a workflow, and of a PKI of one's own.
 *
 * The rules are those of Go's `x509.Certificate.Verify` for code signing, as containers/image uses it; what is not
 * understood is refused, never passed over.
 *
 * Source: containers/image `signature/fulcio_cert.go`, `signature/pki_cert.go`; RFC 5280, 4.2 and 6.
 */
import type { KeyObject } from 'node:crypto'
import { type ParsedCertificate, parseCertificates } from './fulcio-certificate.ts'

/** Why a certificate is not accepted. */
export class CertificateFault extends Error {
  override readonly name = 'CertificateFault'
}

export interface CertificateClaim {
  /** PEM of one certificate. */
  readonly certificate: string
  /** PEM of what lies between it and a root, which stands last and is not used. */
  readonly chain?: string | undefined
  /** PEM of the certificates that are trusted. */
  readonly roots: string
  /** PEM of certificates that the policy gives to bridge the way. */
  readonly intermediates?: string | undefined
  /** When it must have been valid. */
  readonly time: Date
}

export interface FulcioSubject {
  readonly oidcIssuer: string
  readonly subjectEmail: string
}

export interface PkiSubject {
  readonly subjectEmail?: string | undefined
  readonly subjectHostname?: string | undefined
}

/** The key of a certificate that Fulcio gave to this person. @throws CertificateFault */
export function verifyFulcio(claim: CertificateClaim, subject: FulcioSubject): KeyObject {
  const leaf = verifyChain(claim)
  const issuer = leaf.oidcIssuer()
  if (issuer === undefined) throw new CertificateFault('the certificate does not say which OIDC issuer it is from')
  if (issuer !== subject.oidcIssuer)
    throw new CertificateFault(`the certificate is of the OIDC issuer "${issuer}", not of "${subject.oidcIssuer}"`)
  requireEmail(leaf, subject.subjectEmail)
  return leaf.x509.publicKey
}

/** The key of a certificate that these roots gave to this subject. @throws CertificateFault */
export function verifyPki(claim: CertificateClaim, { subjectEmail, subjectHostname }: PkiSubject): KeyObject {
  const leaf = verifyChain(claim)
  if (subjectEmail !== undefined) requireEmail(leaf, subjectEmail)
  const options = { subject: 'never', partialWildcards: false } as const
  if (subjectHostname !== undefined && leaf.x509.checkHost(subjectHostname, options) === undefined)
    throw new CertificateFault(`the certificate is not for the host ${subjectHostname}`)
  return leaf.x509.publicKey
}

/** The bytes of the one certificate in a PEM text. @throws CertificateFault */
export function certificateDer(pem: string): Uint8Array {
  return oneLeaf(pem).x509.raw
}

function requireEmail(leaf: ParsedCertificate, email: string): void {
  const emails = leaf.emails()
  if (!emails.includes(email))
    throw new CertificateFault(`the certificate is for ${emails.join(', ') || 'no e-mail address'}, not for ${email}`)
}

function verifyChain({ certificate, chain, roots, intermediates, time }: CertificateClaim): ParsedCertificate {
  const leaf = oneLeaf(certificate)
  const between = [
    ...(chain === undefined ? [] : read(chain, 'the chain').slice(0, -1)),
    ...(intermediates === undefined ? [] : read(intermediates, 'the intermediate certificates')),
  ]
  const trusted = read(roots, 'the root certificates')
  if (trusted.length === 0) throw new CertificateFault('the policy names no root certificate')
  const why = whyUnfit(leaf, time)
  if (why !== undefined) throw new CertificateFault(`the certificate ${why}`)
  const search = { trusted, between, time, refused: new Set<string>() }
  if (isTrusted([leaf], search)) return leaf
  const refused = search.refused.size === 0 ? 'nobody trusted issued it' : [...search.refused].join('; ')
  throw new CertificateFault(`the certificate leads to no trusted root: ${refused}`)
}

interface Search {
  readonly trusted: readonly ParsedCertificate[]
  readonly between: readonly ParsedCertificate[]
  readonly time: Date
  /** Why issuers that would have fitted were not taken. */
  readonly refused: Set<string>
}

const maxChain = 10

/** True where the last of `path` is, by others or at once, issued by a trusted certificate. */
function isTrusted(path: readonly ParsedCertificate[], search: Search): boolean {
  const last = path.at(-1)
  if (last === undefined || path.length > maxChain) return false
  const isFit = (issuer: ParsedCertificate) => {
    if (!last.isIssuedBy(issuer)) return false
    const why = whyNoIssuer(issuer, path.length - 1, search.time)
    if (why !== undefined) search.refused.add(`${issuer.x509.subject.replaceAll('\n', ', ')} ${why}`)
    return why === undefined
  }
  if (search.trusted.some(isFit)) return true
  const isNew = (one: ParsedCertificate) => !path.some(({ x509 }) => x509.raw.equals(one.x509.raw))
  return search.between.some((one) => isNew(one) && isFit(one) && isTrusted([...path, one], search))
}

/** @param below how many certificates stand between this one and the leaf */
function whyNoIssuer(issuer: ParsedCertificate, below: number, time: Date): string | undefined {
  if (!issuer.isAuthority()) return 'is no certificate authority'
  const limit = issuer.pathLength()
  if (limit !== undefined && below > limit) return `may stand only ${limit} above a certificate`
  return whyUnfit(issuer, time)
}

function whyUnfit(certificate: ParsedCertificate, time: Date): string | undefined {
  const { x509 } = certificate
  const at = time.toISOString()
  if (time < x509.validFromDate) return `is valid from ${x509.validFromDate.toISOString()}, after ${at}`
  if (time > x509.validToDate) return `expired at ${x509.validToDate.toISOString()}, before ${at}`
  if (!certificate.mayServeCodeSigning()) return 'is not for code signing'
  const unknown = certificate.unknownCriticalExtension()
  return unknown === undefined ? undefined : `has the critical extension ${unknown}, which is not supported`
}

function oneLeaf(pem: string): ParsedCertificate {
  const [leaf, ...others] = read(pem, 'the certificate')
  if (leaf === undefined) throw new CertificateFault('there is no certificate in the annotation')
  if (others.length > 0) throw new CertificateFault('there is more than one certificate in the annotation')
  return leaf
}

function read(pem: string, what: string): readonly ParsedCertificate[] {
  try {
    return parseCertificates(pem)
  } catch (cause) {
    throw new CertificateFault(`${what} cannot be read`, { cause })
  }
}
