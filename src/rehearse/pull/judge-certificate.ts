/**
 * Whether a Go program, as podman and ostree's container support are one or speak through one, would accept a server's
 * certificate at a given time: validity first, then the name, then the chain.
 *
 * Source: Go `crypto/x509/verify.go:Verify, VerifyHostname`.
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { PullFailure } from './pull-failure.ts'

export interface PresentedCertificate {
  readonly certificate: X509Certificate
  /** What OpenSSL found wrong with the chain (`authorizationError`), where it found something. */
  readonly chainError: string | undefined
}

export interface JudgeOptions {
  /** The name that was asked for, without the port. */
  readonly hostname: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Undefined where the certificate is accepted. */
export function judgeCertificate(
  { certificate, chainError }: PresentedCertificate,
  { hostname, now }: JudgeOptions,
): PullFailure | undefined {
  return wrongTime(certificate, now) ?? wrongName(certificate, hostname) ?? wrongChain(chainError)
}

/** Both are in the certificate as text that Date reads: `Nov 21 12:00:00 2026 GMT`. */
function wrongTime({ validFrom, validTo }: X509Certificate, now: number): PullFailure | undefined {
  const current = rfc3339(now)
  if (now < Date.parse(validFrom)) {
    const why = `current time ${current} is before ${rfc3339(Date.parse(validFrom))}`
    return tlsFailure('certificate-not-yet-valid', `certificate has expired or is not yet valid: ${why}`)
  }
  if (now <= Date.parse(validTo)) return undefined
  const why = `current time ${current} is after ${rfc3339(Date.parse(validTo))}`
  return tlsFailure('certificate-expired', `certificate has expired or is not yet valid: ${why}`)
}

function wrongName(certificate: X509Certificate, hostname: string): PullFailure | undefined {
  const { names, addresses } = alternativeNames(certificate)
  if (isIP(hostname) !== 0) {
    if (certificate.checkIP(hostname) !== undefined) return undefined
    const why =
      addresses.length === 0
        ? `cannot validate certificate for ${hostname} because it doesn't contain any IP SANs`
        : `certificate is valid for ${addresses.join(', ')}, not ${hostname}`
    return tlsFailure('certificate-name', why)
  }
  if (certificate.checkHost(hostname, { subject: 'never' }) !== undefined) return undefined
  if (names.length === 0 && addresses.length === 0) {
    return certificate.subject?.includes('CN=')
      ? tlsFailure('certificate-no-san', 'certificate relies on legacy Common Name field, use SANs instead')
      : tlsFailure('certificate-no-san', `certificate is not valid for any names, but wanted to match ${hostname}`)
  }
  return tlsFailure('certificate-name', `certificate is valid for ${[...names].join(', ')}, not ${hostname}`)
}

function wrongChain(error: string | undefined): PullFailure | undefined {
  if (error === undefined || isTimeError(error) || error === 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined
  return tlsFailure('ca-unknown', 'certificate signed by unknown authority', `OpenSSL says ${error}`)
}

/** Judged above, by the time that is asked about. */
function isTimeError(error: string): boolean {
  return error === 'CERT_HAS_EXPIRED' || error === 'CERT_NOT_YET_VALID'
}

export function alternativeNames({ subjectAltName = '' }: X509Certificate): {
  readonly names: readonly string[]
  readonly addresses: readonly string[]
} {
  const parts = subjectAltName.split(', ')
  const of = (prefix: string) => parts.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length))
  return { names: of('DNS:'), addresses: of('IP Address:') }
}

function tlsFailure(fault: PullFailure['fault'], why: string, evidence?: string): PullFailure {
  const message = `tls: failed to verify certificate: x509: ${why}`
  return { fault, message, ...(evidence !== undefined && { evidence }) }
}

function rfc3339(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/**
 * The certificates of a trust bundle that `update-ca-trust` takes into the bundle of the system: authorities, and nothing
 * else (p11-kit `trust extract --filter=ca-anchors`).
 */
export function trustedAuthorities(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  return blocks.filter((block) => {
    try {
      return new X509Certificate(block).ca
    } catch {
      return false
    }
  })
}
