/** Certificates of the cluster that are none, or that do not belong to the key beside them. */
import { type Finding, finding } from '../../errors/finding.ts'
import type { BootstrapFiles, Evidence } from '../../openshift/bootstrap/bootstrap-file.ts'
import type { CertificateReport } from '../../openshift/bootstrap/certificates.ts'
import { evidenceText } from './config-places.ts'

const tlsFolder = '/opt/openshift/tls/'

export function checkCertificates(
  { certificates, broken }: CertificateReport,
  files: BootstrapFiles,
): readonly Finding[] {
  const hasKey = ({ file }: Evidence) => file.startsWith(tlsFolder) && files.has(file.replace(/\.(?:crt|pem)$/, '.key'))
  const own = broken.filter(({ file }) => file.startsWith('/opt/openshift/'))
  const strangers = certificates.filter(({ key }) => key === 'differs')
  const unreadable = certificates.filter(({ key }) => key === 'unreadable')
  const places = (found: typeof certificates) =>
    found.flatMap(({ seen }) =>
      seen
        .map(({ at }) => at)
        .filter(hasKey)
        .slice(0, 1),
    )
  return [
    ...told(own, 'rehearse.bootstrap-certificate-broken', 'what should be a certificate is none'),
    ...told(places(strangers), 'rehearse.bootstrap-key-differs', 'the private key beside a certificate is not its own'),
    ...told(places(unreadable), 'rehearse.bootstrap-key-broken', 'the private key beside a certificate cannot be read'),
  ]
}

function told(places: readonly Evidence[], id: string, what: string): readonly Finding[] {
  const [first] = places
  if (first === undefined) return []
  const files = [...new Set(places.map(({ file }) => file))]
  const named = files.slice(0, 3).join(', ')
  const more = files.length > 3 ? ` and ${files.length - 3} more` : ''
  return [
    finding({
      id,
      severity: 'error',
      summary: `In ${files.length === 1 ? named : `${files.length} files`} ${what}: the first API server does not start with it`,
      evidence: evidenceText(first, files.length === 1 ? '' : `${named}${more}`),
      remedy:
        'Nobody can mend them by hand: make the Ignition configs anew in an empty directory. In a copy that was redacted for sharing this is to be expected.',
      where: first,
    }),
  ]
}
