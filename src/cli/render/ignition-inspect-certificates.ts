/** Certificates of a config: whose they are, for which names, and until when. */
import type { FoundCertificate } from '../../openshift/bootstrap/certificates.ts'
import type { Inspection } from '../../openshift/bootstrap/inspection.ts'
import { formatDeadline, formatValidity } from './ignition-inspect-time.ts'

/** All of them, those that end first at the top. */
export function renderCertificates({ certificates, useBefore }: Inspection, now: number): string {
  const sorted = certificates.certificates.toSorted((one, other) => (one.notAfter < other.notAfter ? -1 : 1))
  if (sorted.length === 0) return 'no certificates\n'
  const deadline = useBefore === undefined ? [] : [formatDeadline(useBefore, now), '']
  return [...deadline, ...sorted.flatMap((one) => [...certificateLines(one, now), ''])].join('\n')
}

/** How many there are of each lifetime. */
export function renderCertificateOverview({ certificates }: Inspection, now: number): string {
  const all = certificates.certificates
  if (all.length === 0) return ''
  const short = all.filter(({ isShortLived }) => isShortLived).length
  const over = all.filter(({ notAfter }) => Date.parse(notAfter) <= now).length
  const parts = [
    `${all.length}`,
    ...(short > 0 ? [`${short} of 24 hours`] : []),
    ...(over > 0 ? [`${over} ended`] : []),
  ]
  return `${parts.join(', ')} (--certificates lists them)`
}

export function certificateLines(certificate: FoundCertificate, now: number): readonly string[] {
  const { subject, issuer, isCa, isSelfSigned, names, key, seen, isShortLived } = certificate
  const places = seen.map(({ at }) => `${at.file}:${at.line}`)
  const shown = places.slice(0, 3).join(', ')
  const more = places.length > 3 ? `, and ${places.length - 3} more` : ''
  return [
    `${subject}${isCa ? ', an authority' : ''}${isShortLived ? ', of 24 hours' : ''}`,
    `  ${formatValidity(certificate, now)}`,
    ...(isSelfSigned ? [] : [`  from ${issuer}`]),
    ...(names.length === 0 ? [] : [`  for ${names.join(', ')}`]),
    ...(key === 'differs' ? ['  the key beside it is not its own'] : []),
    `  in ${shown}${more}`,
  ]
}
