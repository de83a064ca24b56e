/**
 * Clocks and what ends: this machine's clock against the mirrors', and both against the certificates in the config.
 *
 * The installer gives 24 hours to what the first API server needs (openshift/installer `pkg/asset/tls`, ValidityOneDay), so
 * a config that is older installs nothing.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { FoundCertificate } from '../../openshift/bootstrap/certificates.ts'
import { evidenceText } from './config-places.ts'
import type { RehearsedHost } from './level-one-report.ts'

const minuteMs = 60 * 1000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Kubernetes takes a few minutes' difference; etcd warns from one second on. */
const tolerableSkewMs = 5 * minuteMs
/** A bootstrap takes about an hour; the first rotation of certificates comes after it. */
const shortMs = 4 * hourMs
const soonMs = 30 * dayMs

export interface TimeSetting {
  readonly certificates: readonly FoundCertificate[]
  readonly hosts: readonly RehearsedHost[]
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Names the config. */
  readonly fileName: string
}

export function checkTimes(setting: TimeSetting): readonly Finding[] {
  const own = setting.certificates.filter(isOfCluster)
  const { hosts, now } = setting
  // What only the clock here refuses, and that of a mirror does not, is a word about clocks.
  const real = own.filter((one) => !hosts.some(({ skewMs }) => isRefusedHereOnly(one, now, skewMs)))
  return [...expired(real, setting), ...notYetValid(real, setting), ...skewed(own, setting), ...servers(setting)]
}

interface Validity {
  /** ISO 8601. */
  readonly notBefore: string
  readonly notAfter: string
}

/** @param skewMs what another clock is ahead of `now` */
export function isRefusedHereOnly(certificate: Validity, now: number, skewMs = 0): boolean {
  if (Math.abs(skewMs) <= tolerableSkewMs) return false
  return isRefused(certificate, now) && !isRefused(certificate, now + skewMs)
}

function isRefused({ notBefore, notAfter }: Validity, time: number): boolean {
  return Date.parse(notBefore) > time || Date.parse(notAfter) <= time
}

/** What the host is to trust for others is judged with the trust bundle. */
function isOfCluster({ seen }: FoundCertificate): boolean {
  return seen.some(({ place }) => place === 'tls' || place === 'kubeconfig')
}

function expired(own: readonly FoundCertificate[], { now, fileName }: TimeSetting): readonly Finding[] {
  const over = own.filter(({ notAfter }) => Date.parse(notAfter) <= now).toSorted(byEnd)
  const [first] = over
  if (first === undefined) return soon(own, now)
  const at = first.seen[0]?.at
  const age = span(now - Date.parse(first.notAfter))
  return [
    finding({
      id: 'rehearse.bootstrap-certificate-expired',
      severity: 'error',
      summary: `${fileName} is too old: ${amount(over.length)} in it ${over.length === 1 ? 'has' : 'have'} expired, ${first.subject} ${age} ago`,
      evidence: evidenceText(at, `it ended ${first.notAfter}, and it is ${iso(now)} here`),
      remedy:
        'Make the Ignition configs anew in an empty directory (openshift-install keeps the old certificates in .openshift_install_state.json), and use them within 24 hours. If they are new, the clock of this machine is wrong: date -u.',
      ...(at && { where: at }),
    }),
  ]
}

function soon(own: readonly FoundCertificate[], now: number): readonly Finding[] {
  const [first] = own.toSorted(byEnd)
  const left = first === undefined ? Number.POSITIVE_INFINITY : Date.parse(first.notAfter) - now
  if (first === undefined || left > shortMs) return []
  const at = first.seen[0]?.at
  return [
    finding({
      id: 'rehearse.bootstrap-certificate-expires',
      severity: 'warning',
      summary: `The config can be used for ${span(left)} more: then ${first.subject} expires`,
      evidence: evidenceText(at, `it ends ${first.notAfter}`),
      remedy:
        'Begin at once, or make the Ignition configs anew in an empty directory: a bootstrap takes about an hour.',
      ...(at && { where: at }),
    }),
  ]
}

function notYetValid(own: readonly FoundCertificate[], { now }: TimeSetting): readonly Finding[] {
  const early = own.filter(({ notBefore }) => Date.parse(notBefore) > now)
  const first = early.toSorted((one, other) => (one.notBefore > other.notBefore ? -1 : 1))[0]
  if (first === undefined) return []
  const at = first.seen[0]?.at
  const ahead = span(Date.parse(first.notBefore) - now)
  return [
    finding({
      id: 'rehearse.bootstrap-certificate-not-yet-valid',
      severity: 'error',
      summary: `${amount(early.length)} in the config ${early.length === 1 ? 'is' : 'are'} not valid yet: ${first.subject} begins in ${ahead}`,
      evidence: evidenceText(at, `it begins ${first.notBefore}, and it is ${iso(now)} here`),
      remedy:
        'A clock is wrong: that of this machine, or that of the one on which the configs were made. Compare date -u on both; the bootstrap host needs a time server in the closed network: sallyport ignition patch FILE --ntp SERVER -o PATCHED.',
      ...(at && { where: at }),
    }),
  ]
}

function skewed(own: readonly FoundCertificate[], { hosts, now }: TimeSetting): readonly Finding[] {
  return hosts
    .filter(({ skewMs = 0 }) => Math.abs(skewMs) > tolerableSkewMs)
    .map(({ host, skewMs = 0, certificate }) => {
      const there = now + skewMs
      const here = own.filter((one) => isRefused(one, now)).length
      const other = own.filter((one) => isRefused(one, there)).length
      const isServerRefused = certificate !== undefined && isRefusedHereOnly(certificate, now, skewMs)
      const refused = [
        ...(here > 0 ? [`by the clock here ${amount(here)} of the config`] : []),
        ...(isServerRefused ? [`by the clock here the certificate of ${host}`] : []),
        ...(other > 0 ? [`by the clock there ${amount(other)} of the config`] : []),
      ]
      const consequence = refused.length === 0 ? '' : `; this refuses ${refused.join(', ')}`
      return finding({
        id: 'rehearse.clock-skew',
        severity: refused.length === 0 ? 'warning' : 'error',
        summary: `The clocks of ${host} and of this machine are ${span(Math.abs(skewMs))} apart: ${host} is ${skewMs < 0 ? 'behind' : 'ahead'}${consequence}`,
        evidence: `Date of its answer: ${iso(there)}; here ${iso(now)}`,
        remedy:
          'Set both by one time server (chronyc tracking), and give it to the bootstrap host and the nodes: sallyport ignition patch FILE --ntp SERVER -o PATCHED --machine-configs openshift.',
      })
    })
}

function servers({ hosts, now }: TimeSetting): readonly Finding[] {
  return hosts.flatMap(({ host, certificate, fault }) => {
    const left = Date.parse(certificate?.notAfter ?? '') - now
    if (certificate === undefined || fault !== undefined || left > soonMs) return []
    return [
      finding({
        id: 'rehearse.certificate-expires',
        severity: 'warning',
        summary: `The certificate of ${host} expires in ${span(left)}: machines that join later will find no image`,
        evidence: `${certificate.subject}, until ${certificate.notAfter}`,
        remedy: 'Issue it anew with the same CA: nothing else has to be changed then.',
      }),
    ]
  })
}

function byEnd(one: FoundCertificate, other: FoundCertificate): number {
  return one.notAfter < other.notAfter ? -1 : 1
}

function amount(certificates: number): string {
  return certificates === 1 ? '1 certificate' : `${certificates} certificates`
}

/** `3 days`, `5 h 20 min`, `12 min`. */
function span(milliseconds: number): string {
  const minutes = Math.max(0, Math.round(milliseconds / minuteMs))
  if (minutes < 60) return `${minutes} min`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `${Math.floor(minutes / (24 * 60))} days`
}

function iso(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
