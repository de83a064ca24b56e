/** Findings without those that another one explains: what follows from it goes into its evidence, and is not told twice. */
import type { Finding } from '../../errors/finding.ts'

interface Consequence {
  readonly id: string
  /** What it is about, out of its summary or evidence: only a cause whose summary names the same explains it. */
  readonly subject?: RegExp
  /** What its summary must match. */
  readonly of?: RegExp
}

const drift: Consequence = { id: 'rehearse.mirrors-drift', subject: /^Images of ([^\s:]+)/ }
/** `oc` meets what the nodes meet, at the mirrors of their manifest. */
const ocAt: Consequence = { id: 'rehearse.oc-release-info', subject: /Mirrors also failed: \[([^/\]]+)\// }

/** By the cause: what it brings about. */
const consequences: Readonly<Record<string, readonly Consequence[]>> = {
  'rehearse.trust-bundle-invalid': [{ id: 'rehearse.ca-unknown' }, { id: 'rehearse.trust-bundle-no-ca' }],
  'rehearse.trust-bundle-no-ca': [{ id: 'rehearse.ca-unknown' }],
  'rehearse.pull-secret-invalid': [{ id: 'rehearse.credentials-missing' }],
  'rehearse.no-mirror': [{ id: 'rehearse.mirrors-drift' }, { id: 'rehearse.source-uncovered' }],
  'rehearse.source-uncovered': [drift, { id: 'rehearse.oc-release-info' }],
  'rehearse.mirrors-drift': [{ id: 'rehearse.oc-release-info' }],
  'rehearse.name-unresolved': [{ ...ocAt, subject: /Mirrors also failed: \[([^/:\]]+)/ }],
  'rehearse.refused': [ocAt],
  'rehearse.manifest-missing': [ocAt],
  'rehearse.blocked': [drift],
  'rehearse.release-images-differ': [{ id: 'rehearse.manifest-missing', of: /the release image/ }],
  'rehearse.unit-invalid': [{ id: 'ignition.invalid', of: / at \$\.systemd\.units\./ }],
  'rehearse.credentials-missing': [{ id: 'rehearse.pull-secret-without-mirror' }],
  'registries.conf-invalid': [{ id: 'rehearse.mirrors-drift' }],
}

/** Only an error explains others. Of the same finding from two checks the first counts. */
export function rootCauses(findings: readonly Finding[]): readonly Finding[] {
  const unique = [
    ...new Map(findings.toReversed().map((one) => [`${one.id} ${one.summary}`, one])).values(),
  ].toReversed()
  const causeOf = new Map<Finding, Finding>()
  for (const cause of unique) {
    if (cause.severity !== 'error') continue
    for (const one of unique) if (!causeOf.has(one) && explains(cause, one)) causeOf.set(one, cause)
  }
  return unique
    .filter((one) => !causeOf.has(one))
    .map((one) => {
      const follow = unique.filter((other) => causeOf.get(other) === one)
      return follow.length === 0 ? one : withConsequences(one, follow)
    })
}

function explains(cause: Finding, one: Finding): boolean {
  return (consequences[cause.id] ?? []).some(({ id, subject, of }) => {
    if (id !== one.id || of?.test(one.summary) === false) return false
    if (subject === undefined) return true
    const about = subject.exec(`${one.summary} ${one.evidence}`)?.[1]
    return about !== undefined && cause.summary.includes(about)
  })
}

function withConsequences(cause: Finding, follow: readonly Finding[]): Finding {
  const told = follow.map(({ summary }) => `and so: ${summary}`)
  return { ...cause, evidence: [cause.evidence, ...told].filter(Boolean).join('; ') }
}
