/**
 * Level 1 of the rehearsal: everything that a bootstrap of this config will ask the network for, asked now, and everything in
 * the file that will not do.
 *
 * From this file alone: its registries.conf, its trust, its credentials; of the nodes what its manifests give them.
 */
import type { Finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import type { Env } from '../../host/env.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import {
  type CertificateReport,
  type FoundCertificate,
  readCertificates,
} from '../../openshift/bootstrap/certificates.ts'
import { compareRegistries, type RegistryDifference } from '../../openshift/bootstrap/compare-registries.ts'
import { nodeRegistries } from '../../openshift/bootstrap/node-registries.ts'
import type { BootstrapAccess } from '../bootstrap-access.ts'
import { causeFindings } from './cause-findings.ts'
import { checkCertificates } from './check-certificates.ts'
import { checkMirrorKeys, checkPullSecret } from './check-credentials.ts'
import { checkDisk } from './check-disk.ts'
import { checkConfig } from './check-ignition.ts'
import { checkManifests } from './check-manifests.ts'
import { checkComponentSource, checkMirrors, driftFindings } from './check-mirrors.ts'
import { checkNames, checkNoProxy, resolveNames } from './check-names.ts'
import { checkArchitecture, checkComponents, checkOcMirrors, checkPayload, checkReleaseName } from './check-release.ts'
import { checkScripts } from './check-scripts.ts'
import { checkSignature } from './check-signature.ts'
import { checkTimes } from './check-times.ts'
import { checkTrust } from './check-trust.ts'
import { checkUnits } from './check-units.ts'
import type { ConfigCertificate, LevelOneReport } from './level-one-report.ts'
import { mirrorReport } from './mirror-report.ts'
import { type NodeView, nodeView } from './node-view.ts'
import { rehearsedHosts } from './probed-hosts.ts'
import { pullCauses } from './pull-causes.ts'
import { diskNeed, rehearsedImage, type SideAccess, type TriedImage, tryImages } from './pull-images.ts'
import { rootCauses } from './root-causes.ts'
import { payloadOf, type WantedImages, wantedImages } from './wanted-images.ts'

export interface LevelOneOptions {
  /** As the file has it. */
  readonly text: string
  readonly config: IgnitionConfig
  readonly clock: Clock
  readonly signal: AbortSignal
  /** For `bash -n`: PATH. */
  readonly env: Env
  /** Access to the same network for another host. */
  readonly openAccess: (host: BootstrapConfig) => BootstrapAccess
}

export async function rehearseLevelOne(
  bootstrap: BootstrapConfig,
  access: BootstrapAccess,
  options: LevelOneOptions,
): Promise<LevelOneReport> {
  const { clock } = options
  const startedAt = clock.now()
  const registries = nodeRegistries(bootstrap)
  const nodes = nodeView(bootstrap, registries)
  const nodeAccess = nodes && options.openAccess(nodes.host)
  try {
    const sides = { bootstrap: access, ...(nodeAccess && { nodes: nodeAccess }) }
    const asked = await askNetwork(bootstrap, sides)
    const certificates = readCertificates(options.config, bootstrap.files)
    const differences = compareRegistries(bootstrap, registries)
    const still = await stillFindings(bootstrap, options)
    const setting = { bootstrap, nodes, certificates, differences, asked, now: clock.now() }
    const findings = [
      ...still.findings,
      ...registries.findings,
      ...driftFindings(differences),
      ...askedFindings(setting),
    ]
    const { tried, ...facts } = asked.facts
    return {
      ...facts,
      images: tried.map(rehearsedImage),
      mirrors: mirrorReport(bootstrap, registries, differences),
      certificates: certificates.certificates.map(reportedCertificate).toSorted(byEnd),
      disk: diskNeed(tried),
      checked: still.checked,
      skipped: still.skipped,
      findings: rootCauses(findings),
      durationMs: clock.now() - startedAt,
    }
  } finally {
    nodeAccess?.close()
  }
}

interface Asked {
  readonly facts: Pick<LevelOneReport, 'release' | 'hosts' | 'names' | 'signature'> & {
    readonly tried: readonly TriedImage[]
  }
  readonly wanted: WantedImages
  readonly findings: readonly Finding[]
}

/** Where a file of registries.conf is broken podman asks nobody, and nobody is asked here. */
async function askNetwork(bootstrap: BootstrapConfig, access: SideAccess): Promise<Asked> {
  const { bootstrap: own } = access
  const isMute = bootstrap.registries.errors.length > 0 || bootstrap.releaseImage?.reference === undefined
  const names = resolveNames(bootstrap, own.resolveName)
  const release = isMute ? undefined : await readRelease(access)
  const payload = release && payloadOf(release)
  const wanted = wantedImages(bootstrap, payload)
  const tried = isMute ? [] : await tryImages(wanted.images, access)
  const pulled = tried[0]?.pulls.bootstrap
  const isPulled = pulled?.kind === 'pulled'
  const version = payload?.version ?? bootstrap.cluster.minor ?? ''
  const signature = isPulled ? await checkSignature(bootstrap, own, { release: pulled, version }) : { findings: [] }
  const oc = isPulled ? await checkOcMirrors(bootstrap, own, pulled) : []
  const { findings: unsigned, ...found } = signature
  return {
    facts: {
      ...(payload && {
        release: {
          version: payload.version,
          components: payload.components.length,
          ...(isPulled && pulled.architecture !== undefined && { architecture: pulled.architecture }),
        },
      }),
      ...found,
      hosts: await rehearsedHosts(access),
      names: await names,
      tried,
    },
    wanted,
    findings: [
      ...(release ? checkPayload(release, isPulled) : []),
      ...checkComponents(wanted, payload && `release ${payload.version}`),
      ...checkArchitecture(tried, own.architecture),
      ...unsigned,
      ...oc,
      ...(payload === undefined && !isMute ? checkComponentSource(bootstrap) : []),
    ],
  }
}

/** Where the bootstrap host cannot read it the nodes perhaps can: then everything else can be looked at all the same. */
async function readRelease({ bootstrap, nodes }: SideAccess): ReturnType<BootstrapAccess['release']> {
  const release = await bootstrap.release()
  const other = release instanceof KnownError ? await nodes?.release() : undefined
  return other === undefined || other instanceof KnownError ? release : other
}

interface FindingSetting {
  readonly bootstrap: BootstrapConfig
  readonly nodes: NodeView | undefined
  readonly certificates: CertificateReport
  readonly differences: readonly RegistryDifference[]
  readonly asked: Asked
  readonly now: number
}

function askedFindings(setting: FindingSetting): readonly Finding[] {
  const { bootstrap, nodes, certificates: report, differences, asked, now } = setting
  const { certificates } = report
  const { hosts, names, tried } = asked.facts
  const confs = { bootstrap: bootstrap.registries.conf, ...(nodes && { nodes: nodes.host.registries.conf }) }
  return [
    ...causeFindings(pullCauses(tried, confs), { bootstrap, nodes, hosts, certificates, differences, now }),
    ...asked.findings,
    ...checkTrust(bootstrap, { certificates: report, hosts, now }),
    ...checkMirrorKeys(bootstrap, hosts),
    ...checkNoProxy(bootstrap, hosts),
    ...checkTimes({ certificates, hosts, now, fileName: bootstrap.fileName }),
    ...checkCertificates(report, bootstrap.files),
    ...checkNames(bootstrap, names),
    ...checkDisk(bootstrap, tried),
  ]
}

/** What the file says by itself. */
async function stillFindings(bootstrap: BootstrapConfig, { text, config, env, signal }: LevelOneOptions) {
  const scripts = await checkScripts(bootstrap, { env, signal })
  const manifests = checkManifests(bootstrap)
  return {
    findings: [
      ...checkConfig(text, config, bootstrap.fileName),
      ...checkReleaseName(bootstrap),
      ...checkMirrors(bootstrap),
      ...checkPullSecret(bootstrap),
      ...checkUnits(bootstrap),
      ...scripts.findings,
      ...manifests.findings,
    ],
    checked: {
      files: bootstrap.files.size,
      units: bootstrap.units.length,
      scripts: scripts.scripts,
      manifests: manifests.manifests,
    },
    skipped: scripts.skipped === undefined ? [] : [scripts.skipped],
  }
}

function reportedCertificate({
  subject,
  seen,
  isCa,
  isShortLived,
  notBefore,
  notAfter,
}: FoundCertificate): ConfigCertificate {
  const [first] = seen
  const { at, place } = first ?? { at: { file: '', line: 1 }, place: 'other' }
  return { subject, at, place, isCa, isShortLived, notBefore, notAfter }
}

function byEnd(one: ConfigCertificate, other: ConfigCertificate): number {
  return one.notAfter < other.notAfter ? -1 : 1
}
