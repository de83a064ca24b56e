/**
 * Whether configs belong together: the installer makes a new root authority in every run, and machines of one run refuse
 * the server of another.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { FoundCertificate } from './certificates.ts'
import type { Inspection } from './inspection.ts'

const rootFile = '/opt/openshift/tls/root-ca.crt'

/** The authority that a config's machines know the machine config server by; of a bootstrap config, the one that it has. */
export function rootAuthority({ certificates, inspected }: Inspection): FoundCertificate | undefined {
  const isRoot = ({ seen }: FoundCertificate) =>
    seen.some(({ at, place }) => (inspected.kind === 'bootstrap' ? at.file === rootFile : place === 'ignition'))
  return certificates.certificates.find(isRoot)
}

/** Compared with the bootstrap config among them, else with the first; configs without a root are passed over. */
export function compareRuns(inspections: readonly Inspection[]): readonly Finding[] {
  const rooted = inspections.flatMap((inspection) => {
    const root = rootAuthority(inspection)
    return root === undefined ? [] : [{ inspection, root }]
  })
  const reference = rooted.find(({ inspection }) => inspection.inspected.kind === 'bootstrap') ?? rooted[0]
  if (reference === undefined) return []
  const others = rooted.filter((one) => one !== reference)
  return others.flatMap((other) => [
    ...rootFindings(other, reference),
    ...serverFindings(other.inspection, reference.inspection),
  ])
}

interface Rooted {
  readonly inspection: Inspection
  readonly root: FoundCertificate
}

function rootFindings(other: Rooted, reference: Rooted): readonly Finding[] {
  if (other.root.fingerprint === reference.root.fingerprint) return []
  const [name, expected] = [other.inspection.fileName, reference.inspection.fileName]
  return [
    finding({
      id: 'ignition.another-run',
      severity: 'error',
      summary: `${name} is of another run than ${expected}: its root CA differs`,
      evidence: `sha256:${other.root.fingerprint} from ${other.root.notBefore}, and sha256:${reference.root.fingerprint} from ${reference.root.notBefore}`,
      remedy: 'Take all configs from one run of openshift-install, and make the machines anew that have another.',
    }),
  ]
}

function serverFindings(pointer: Inspection, { inspected, bootstrap, fileName }: Inspection): readonly Finding[] {
  const expected = bootstrap.cluster.names.machineConfigServer
  if (inspected.kind !== 'bootstrap' || expected === undefined) return []
  const asked = pointer.pointers.filter(
    ({ role, host }) => role !== undefined && host !== undefined && host !== expected,
  )
  return asked.map(({ host }) =>
    finding({
      id: 'ignition.another-server',
      severity: 'warning',
      summary: `${pointer.fileName} points to ${host}, and ${fileName} serves configs as ${expected}`,
    }),
  )
}
