/** From a reason why pulls fail to the finding that says so, once, with what it keeps away. */
import { type Finding, finding, type Severity } from '../../errors/finding.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import { type Evidence, lineAt } from '../../openshift/bootstrap/bootstrap-file.ts'
import { proxyEnvironment } from '../../openshift/bootstrap/bootstrap-trust.ts'
import type { FoundCertificate } from '../../openshift/bootstrap/certificates.ts'
import type { RegistryDifference } from '../../openshift/bootstrap/compare-registries.ts'
import { isLocalHost } from './check-mirrors.ts'
import { isRefusedHereOnly } from './check-times.ts'
import { evidenceText, lineWith, registriesLine } from './config-places.ts'
import { type CauseView, type FaultText, faultTexts } from './fault-texts.ts'
import type { RehearsedHost, Side } from './level-one-report.ts'
import type { NodeView } from './node-view.ts'
import type { CauseKind, KeptImage, PullCause } from './pull-causes.ts'

export interface CauseSetting {
  readonly bootstrap: BootstrapConfig
  readonly nodes: NodeView | undefined
  readonly hosts: readonly RehearsedHost[]
  readonly certificates: readonly FoundCertificate[]
  readonly differences: readonly RegistryDifference[]
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Of mirrors at localhost, behind a proxy that noProxy should keep away, or missing for nodes alone, other checks speak. */
export function causeFindings(causes: readonly PullCause[], setting: CauseSetting): readonly Finding[] {
  const isDrift = ({ kind, place, images }: PullCause) =>
    (kind === 'outside' || kind === 'no-mirror') &&
    images.every(({ side }) => side === 'nodes') &&
    setting.differences.some((one) => one.kind === 'only-bootstrap' && isWithin(one.source, place))
  const isProxied = ({ host, kind }: PullCause) =>
    asTheProxyHasIt.has(kind) && setting.hosts.some((one) => one.host === host && one.proxy !== undefined)
  return causes
    .filter((cause) => !isLocalHost(cause.host) && !isProxied(cause) && !isDrift(cause) && !isOfClocks(cause, setting))
    .map((cause) => causeFinding(cause, causes, setting))
}

/** Either may be the wider one: a source of mirrors, or the place that an image comes from. */
function isWithin(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)
}

/** True where the certificate is refused by the clock here, and not by that of its server: then it is the clocks that differ. */
function isOfClocks({ kind, host }: PullCause, { hosts, now }: CauseSetting): boolean {
  if (kind !== 'certificate-expired' && kind !== 'certificate-not-yet-valid') return false
  return hosts.some(
    (one) => one.host === host && one.certificate !== undefined && isRefusedHereOnly(one.certificate, now, one.skewMs),
  )
}

const asTheProxyHasIt: ReadonlySet<CauseKind> = new Set([
  'timeout',
  'refused',
  'unreachable',
  'name-unresolved',
  'not-a-registry',
  'registry-failing',
  'plain-http',
  'other',
])

function causeFinding(cause: PullCause, causes: readonly PullCause[], setting: CauseSetting): Finding {
  const text = faultTexts[cause.kind]
  const view = viewOf(cause, setting)
  const isFailed = cause.images.some((image) => image.isFailed)
  const tail = text.isOfImages === true ? `asked for by ${view.askers}` : `this keeps away ${view.kept}`
  const at = placeOf(cause, text, setting)
  const { evidence = '', message } = cause.first
  return finding({
    id: view.isOnlyNodes ? (text.idOfNodes ?? text.id) : text.id,
    severity: severityOf(cause, causes),
    summary: sentence(`${text.says(view)}; ${isFailed ? tail : 'another mirror has what it lacks'}`),
    evidence: evidenceText(at, said(message), evidence === message ? '' : evidence),
    remedy: text.next(view),
    ...(at !== undefined && { where: at }),
  })
}

function said(message: string): string {
  return message === '' ? '' : `the pull says: ${message}`
}

/** Names of hosts stay as they are. */
function sentence(text: string): string {
  return text.replace(/^(?:no|nothing|there|the)\b/, (word) => word.charAt(0).toUpperCase() + word.slice(1))
}

function severityOf({ kind, images }: PullCause, causes: readonly PullCause[]): Severity {
  const failed = images.filter(({ isFailed }) => isFailed)
  if (failed.length === 0) return causeIsOfHost({ kind }) ? 'warning' : 'info'
  const needed = failed.filter(({ wanted }) => !wanted.isOptional)
  if (needed.length === 0) return failed.some(({ wanted }) => wanted.use === 'named') ? 'warning' : 'info'
  const isConsequence =
    kind === 'blocked' && needed.every((image) => causes.some((other) => other.kind !== kind && keeps(other, image)))
  return isConsequence ? 'warning' : 'error'
}

function keeps({ images }: PullCause, { wanted, side }: KeptImage): boolean {
  return images.some((image) => image.wanted === wanted && image.side === side && image.isFailed)
}

/** An endpoint that others stand in for is worth a word only where it never answers. */
function causeIsOfHost({ kind }: Pick<PullCause, 'kind'>): boolean {
  return kind !== 'manifest-missing' && kind !== 'platform-missing'
}

function viewOf(cause: PullCause, { bootstrap, nodes, hosts, certificates }: CauseSetting): CauseView {
  const { host, place, first, images } = cause
  const seen = hosts.find((one) => one.host === host)
  const isOnlyNodes = images.every(({ side }) => side === 'nodes')
  const asking = isOnlyNodes && nodes !== undefined ? nodes.host : bootstrap
  const proxy = seen?.proxy ?? proxyEnvironment(bootstrap.files)?.httpsProxy
  const [example] = images
  return {
    host,
    name: host.replace(/:\d+$/, ''),
    place,
    ...imageTexts(images.some(({ isFailed }) => isFailed) ? images.filter(({ isFailed }) => isFailed) : images),
    message: first.message,
    addresses: seen?.addresses ?? [],
    ...(seen?.certificate && { certificate: seen.certificate }),
    ...(proxy !== undefined && { proxy }),
    credentialHosts: asking.credentials?.hosts ?? [],
    authorities: authoritiesOf(asking, certificates),
    source: example?.wanted.reference ?? first.reference,
    target: (example?.endpoint ?? first.reference).replace(/@.*$/, ''),
    isOnlyNodes,
  }
}

function authoritiesOf(
  { trustAnchors }: BootstrapConfig,
  certificates: readonly FoundCertificate[],
): readonly string[] {
  const paths = new Set(trustAnchors.map(({ path }) => path))
  return certificates
    .filter(({ isCa, seen }) => isCa && seen.some(({ at }) => paths.has(at.file)))
    .map(({ subject }) => subject)
}

/** What is kept away, from whom: of the bootstrap host the release image counts for all. */
function imageTexts(images: readonly KeptImage[]): Pick<CauseView, 'kept' | 'named' | 'askers'> {
  const names = (side: Side) => [...new Set(images.filter((image) => image.side === side).map(nameOf))]
  const here = names('bootstrap')
  const there = names('nodes')
  const all = [...new Set([...here, ...there])]
  const shown = all.length === 1 ? '' : `: ${all.slice(0, 4).join(', ')}${all.length > 4 ? ', …' : ''}`
  const askers = [...(here.length > 0 ? ['the bootstrap host'] : []), ...(there.length > 0 ? ['the nodes'] : [])].join(
    ' and ',
  )
  const isAlike = here.length === all.length && there.length === all.length
  const parts = [
    ...(here.length > 0 ? [`${amount(here)} from the bootstrap host`] : []),
    ...(there.length > 0 ? [`${amount(there)} from the nodes`] : []),
  ]
  const whom = isAlike ? `${amount(all)} from ${askers}` : parts.join(' and ')
  return {
    kept: here.includes(releaseName) ? 'the release image, and with it every other' : `${whom}${shown}`,
    named: all.length === 1 ? theName(all[0]) : `${all.length} images (${shown.slice(2)})`,
    askers,
  }
}

function theName(name = ''): string {
  return name === releaseName ? `the ${name}` : name
}

const releaseName = 'release image'

function nameOf({ wanted }: KeptImage): string {
  return wanted.name
}

function amount(names: readonly string[]): string {
  return names.length === 1 ? String(names[0]) : `${names.length} images`
}

function placeOf(cause: PullCause, { about }: FaultText, { bootstrap, nodes }: CauseSetting): Evidence | undefined {
  const { host, place, images } = cause
  const isOnlyNodes = images.every(({ side }) => side === 'nodes')
  if (cause.kind === 'tag-reference') return images[0]?.wanted.evidence[0]
  if (about === 'trust') return isOnlyNodes ? nodes?.trust : trustLine(bootstrap)
  if (about === 'credentials') return isOnlyNodes ? nodes?.credentials : credentialsLine(bootstrap, host)
  if (about === 'proxy') return lineWith(bootstrap, bootstrap.proxy?.path ?? '', 'NO_PROXY')
  const ofNodes = isOnlyNodes ? mirrorSetLine(nodes, host) : undefined
  return ofNodes ?? registriesLine(bootstrap, place)
}

/** The line of a mirror set that names the registry. */
function mirrorSetLine(nodes: NodeView | undefined, host: string): Evidence | undefined {
  const manifest = nodes?.mirrors.find(({ text }) => text.includes(host))
  if (manifest === undefined) return undefined
  const { path, line, text } = manifest
  return { file: path, line: line + lineAt(text, text.indexOf(host)) - 1 }
}

function trustLine(bootstrap: BootstrapConfig): Evidence | undefined {
  const path = bootstrap.trustAnchors[0]?.path ?? '/etc/pki/ca-trust/source/anchors/ca.crt'
  return lineWith(bootstrap, path, '-----BEGIN')
}

function credentialsLine(bootstrap: BootstrapConfig, host: string): Evidence | undefined {
  return lineWith(bootstrap, bootstrap.credentials?.path ?? '', `"${host}"`)
}
