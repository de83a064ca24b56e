/**
 * The trust bundle of the bootstrap host: what of it `update-ca-trust` takes.
 *
 * Source: p11-kit `trust extract --filter=ca-anchors`; openshift/installer `pkg/validate/validate.go:CABundle`, which wants
 * nothing after the last certificate.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import { type BootstrapFile, type Evidence, lineAt } from '../../openshift/bootstrap/bootstrap-file.ts'
import type { CertificateReport, FoundCertificate } from '../../openshift/bootstrap/certificates.ts'
import { evidenceText } from './config-places.ts'
import type { RehearsedHost } from './level-one-report.ts'

const anchors = /^\/etc\/pki\/ca-trust\/source\/(?:anchors\/)?[^/]+$/
const ending = '-----END CERTIFICATE-----'

export interface TrustSetting {
  readonly certificates: CertificateReport
  readonly hosts: readonly RehearsedHost[]
  /** Milliseconds since the epoch. */
  readonly now: number
}

export function checkTrust({ files }: Pick<BootstrapConfig, 'files'>, setting: TrustSetting): readonly Finding[] {
  const bundles = [...files.values()].filter(({ path, text }) => anchors.test(path) && text.trim() !== '')
  return bundles.flatMap((file) => {
    const own = setting.certificates.certificates.filter(({ seen }) => seen.some(({ at }) => at.file === file.path))
    const broken = setting.certificates.broken.filter((at) => at.file === file.path)
    return [...shape(file, own, broken), ...noAuthority(file, own), ...expired(own, setting)]
  })
}

function shape(file: BootstrapFile, own: readonly FoundCertificate[], broken: readonly Evidence[]): readonly Finding[] {
  const { path, text } = file
  const [first] = broken
  if (first !== undefined) return [invalid(first, 'error', `has a certificate at line ${first.line} that is none`)]
  if (own.length === 0) return [invalid({ file: path, line: 1 }, 'error', 'has no certificate in PEM')]
  const end = text.lastIndexOf(ending) + ending.length
  const rest = text.slice(end)
  if (rest.trim() === '') return []
  const at = { file: path, line: lineAt(text, end + rest.search(/\S/)) }
  return [
    invalid(at, 'warning', 'has text after its last certificate, for which the installer refuses it (invalid block)'),
  ]
}

function invalid(at: Evidence, severity: Finding['severity'], why: string): Finding {
  return finding({
    id: 'rehearse.trust-bundle-invalid',
    severity,
    summary: `The trust bundle ${at.file} ${why}`,
    evidence: evidenceText(at),
    remedy:
      'additionalTrustBundle is certificates of authorities in PEM and nothing else, each from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----: openssl crl2pkcs7 -nocrl -certfile ca.pem | openssl pkcs7 -print_certs -noout lists what OpenSSL reads in it.',
    where: at,
  })
}

function noAuthority({ path }: BootstrapFile, own: readonly FoundCertificate[]): readonly Finding[] {
  const leaves = own.filter(({ isCa }) => !isCa)
  const [first] = leaves
  if (first === undefined) return []
  const isOnly = leaves.length === own.length
  const at = first.seen.find((one) => one.at.file === path)?.at ?? { file: path, line: 1 }
  return [
    finding({
      id: 'rehearse.trust-bundle-no-ca',
      severity: isOnly ? 'error' : 'warning',
      summary: `${isOnly ? 'The trust bundle has no authority' : 'A certificate of the trust bundle is no authority'}: ${leaves.map(({ subject }) => subject).join('; ')}. update-ca-trust leaves it out`,
      evidence: evidenceText(at, `issued by ${first.issuer}, CA:FALSE`),
      remedy:
        'Put in the certificate of the authority that issued it. For a certificate that signs itself: make a CA, and issue one for the registry with it.',
      where: at,
    }),
  ]
}

const monthMs = 30 * 24 * 60 * 60 * 1000

function expired(own: readonly FoundCertificate[], { hosts, now }: TrustSetting): readonly Finding[] {
  return own
    .filter(({ isCa, notAfter }) => isCa && Date.parse(notAfter) < now + monthMs)
    .map((certificate) => {
      const { subject, notAfter, seen } = certificate
      const isOver = Date.parse(notAfter) < now
      const issued = hosts.filter((host) => host.certificate?.issuer === subject).map(({ host }) => host)
      const at = seen[0]?.at
      return finding({
        id: isOver ? 'rehearse.trust-bundle-expired' : 'rehearse.trust-bundle-expires',
        severity: isOver && issued.length > 0 ? 'error' : 'warning',
        summary: `The authority ${subject} in the trust bundle ${isOver ? 'has expired' : 'expires soon'}: ${notAfter}${issued.length > 0 ? `; it vouches for ${issued.join(', ')}` : ''}`,
        evidence: evidenceText(at),
        remedy:
          'Make a new CA, issue the certificates of the registry anew with it, and put it into additionalTrustBundle.',
        ...(at && { where: at }),
      })
    })
}
