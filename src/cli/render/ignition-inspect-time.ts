/** How long a certificate lives, told from now. */
import type { FoundCertificate } from '../../openshift/bootstrap/certificates.ts'
import { formatDuration } from './quantities.ts'

const dayMs = 24 * 60 * 60 * 1000

/** `2026-11-22 12:47 UTC`. */
function formatMoment(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`
}

/** `23 h 10 min`, `12 days`, `9.9 years`. */
function formatSpan(milliseconds: number): string {
  const days = milliseconds / dayMs
  if (days < 2) return formatDuration(milliseconds)
  return days < 800 ? `${Math.floor(days)} days` : `${(days / 365.25).toFixed(1)} years`
}

/** `until 2036-11-18 12:47 UTC (9.9 years)`, `ended 2020-09-17 03:27 UTC (6.2 years ago)`. */
export function formatValidity({ notBefore, notAfter }: FoundCertificate, now: number): string {
  const [from, to] = [Date.parse(notBefore), Date.parse(notAfter)]
  if (to <= now) return `ended ${formatMoment(notAfter)} (${formatSpan(now - to)} ago)`
  if (from > now) return `not before ${formatMoment(notBefore)} (in ${formatSpan(from - now)})`
  return `until ${formatMoment(notAfter)} (in ${formatSpan(to - now)})`
}

/** `use it before … (in 23 h 10 min)`, or that it is too late. */
export function formatDeadline(first: FoundCertificate, now: number): string {
  const left = Date.parse(first.notAfter) - now
  if (left <= 0) return `expired since ${formatMoment(first.notAfter)} (${formatSpan(-left)} ago): make it anew`
  return `use it before ${formatMoment(first.notAfter)} (in ${formatSpan(left)})`
}
