/** Certificates that a host trusts: one file each below `/etc/pki/ca-trust/source/anchors`, read by update-ca-trust. */
import { X509Certificate } from 'node:crypto'
import { type Finding, finding } from '../../errors/finding.ts'
import { privateKeyHead } from '../../errors/private-key.ts'
import type { PatchedFile, TrustAnchor, WorkedOut } from './patch.ts'

const anchorDirectory = '/etc/pki/ca-trust/source/anchors'

/** Where the installer writes additionalTrustBundle (openshift/installer `data/data/bootstrap/files/etc/pki/…/ca.crt.template`). */
const installersAnchor = `${anchorDirectory}/ca.crt`

/**
 * @param now for certificates that have expired, or are not valid yet
 */
export function trustAnchorFiles(anchors: readonly TrustAnchor[], now: Date): WorkedOut {
  return {
    files: anchors.map(({ name, pem }) => ({
      path: `${anchorDirectory}/${name}.crt`,
      mode: 0o644,
      contents: Buffer.from(pem.endsWith('\n') ? pem : `${pem}\n`),
      part: 'trust',
    })),
    findings: anchors.flatMap(({ name, pem }) => judgeTrusted(pem, name, now)),
  }
}

/**
 * Whether a PEM text holds certificates that can vouch for a server.
 *
 * @param name names the text in findings
 */
export function judgeTrusted(pem: string, name: string, now: Date): readonly Finding[] {
  if (privateKeyHead.test(pem))
    return [
      invalid(
        `${name} holds a private key, which would end on every host`,
        'Name a file with nothing but certificates.',
      ),
    ]
  const blocks = certificateBlocks(pem)
  if (blocks.length === 0) {
    const remedy = 'Name a PEM file; one in DER becomes PEM with: openssl x509 -inform der -in FILE'
    return [invalid(`${name} holds no certificate (no BEGIN CERTIFICATE)`, remedy)]
  }
  return blocks.flatMap((block, index) =>
    judgeBlock(block, blocks.length === 1 ? name : `${name}, certificate ${index + 1}`, now),
  )
}

/** What replacing the trust bundle of the installer by these files would lose; undefined where nothing. */
export function lostTrust(file: PatchedFile, before: Uint8Array): Finding | undefined {
  const kept = new Set(fingerprints(Buffer.from(file.contents).toString('latin1')))
  const lost = fingerprints(Buffer.from(before).toString('latin1')).filter((print) => !kept.has(print))
  if (lost.length === 0) return undefined
  const isInstallers = file.path === installersAnchor
  const whose = isInstallers ? ', where the installer puts additionalTrustBundle' : ''
  return finding({
    id: 'ignition.patch-trust-lost',
    severity: isInstallers ? 'error' : 'warning',
    summary: `${file.path}${whose}: ${lost.length} of the certificates there would no longer be trusted`,
    remedy: isInstallers
      ? 'Give the certificate another name, so that it gets a file of its own: the name of its file without .pem or .crt, or NAME in name: NAME.'
      : 'This is right where the certificate was renewed; otherwise give the new one another name.',
  })
}

function certificateBlocks(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
}

function fingerprints(pem: string): readonly string[] {
  return certificateBlocks(pem).flatMap((block) => parsed(block)?.fingerprint256 ?? [])
}

function parsed(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block)
  } catch {
    // OpenSSL has no error that would say more than that it is none.
    return undefined
  }
}

function judgeBlock(block: string, name: string, now: Date): readonly Finding[] {
  const certificate = parsed(block)
  if (certificate === undefined)
    return [
      invalid(`${name} is no certificate that can be read`, 'Look at it with: openssl x509 -noout -text -in FILE'),
    ]
  const subject = certificate.subject?.replaceAll('\n', ', ') || 'no subject'
  const findings: Finding[] = []
  if (!certificate.ca)
    findings.push(
      finding({
        id: 'ignition.patch-trust-not-ca',
        severity: 'warning',
        summary: `${name} (${subject}) is not marked as a certificate authority: it vouches for itself at most`,
        remedy:
          'Name the certificate of the authority that signed the mirror’s, unless the mirror’s own is self-signed.',
      }),
    )
  const wrongTime = timeFault(certificate, now)
  if (wrongTime !== undefined)
    findings.push(
      finding({
        id: 'ignition.patch-trust-expired',
        severity: 'warning',
        summary: `${name} (${subject}) ${wrongTime}`,
        remedy: 'Name a certificate that is valid when the machines boot, or correct the clock of this one.',
      }),
    )
  return findings
}

function timeFault({ validFromDate, validToDate }: X509Certificate, now: Date): string | undefined {
  if (validToDate < now) return `expired on ${validToDate.toISOString()}`
  return validFromDate > now ? `is not valid before ${validFromDate.toISOString()}` : undefined
}

function invalid(summary: string, remedy: string): Finding {
  return finding({ id: 'ignition.patch-trust-invalid', severity: 'error', summary, remedy })
}
