/** What registries.conf of the bootstrap host says that will not do, or will not do for long, before anybody is asked. */
import { type Finding, finding } from '../../errors/finding.ts'
import { repositoryName } from '../../oci/reference.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { RegistryDifference } from '../../openshift/bootstrap/compare-registries.ts'
import type { RegistryEntry } from '../../registries/registries-conf.ts'
import { resolveEndpoints } from '../../registries/resolve.ts'
import { isPublicRegistry } from '../public-registries.ts'
import { evidenceText, lineWith, registriesLine } from './config-places.ts'

const mainFile = '/etc/containers/registries.conf'

export function checkMirrors(bootstrap: BootstrapConfig): readonly Finding[] {
  const { registries } = bootstrap.registries.conf
  return [
    ...brokenFiles(bootstrap),
    ...unreadableFile(bootstrap),
    ...localMirrors(bootstrap, registries),
    ...insecureMirrors(bootstrap, registries),
    ...publicHosts(bootstrap),
  ]
}

function brokenFiles({ registries, files }: BootstrapConfig): readonly Finding[] {
  return registries.errors.map((error) => {
    const file = String(error.details['file'] ?? mainFile)
    const named = /'([^']+)'|"([^"]+)"/.exec(error.message)
    const name = named?.[1] ?? named?.[2]
    const line = Number(error.details['line'] ?? (name && lineWith({ files }, file, name)?.line) ?? 1)
    return finding({
      id: 'registries.conf-invalid',
      severity: 'error',
      summary: `containers/image refuses registries.conf, and with it every pull: ${error.message}`,
      evidence: evidenceText({ file, line }),
      remedy: `Correct it where it comes from: imageDigestSources of install-config.yaml (one source must not have two policies), or the drop-in that was added. ${error.hint}`,
      where: { file, line },
    })
  })
}

/** Who pulls the node image reads it as another user (openshift/installer pull request 6789); older hosts have nobody who does. */
function unreadableFile({ files, features, registries }: BootstrapConfig): readonly Finding[] {
  return registries.files.flatMap((path) => {
    const mode = files.get(path)?.mode ?? 0o644
    if ((mode & 0o004) !== 0) return []
    return [
      finding({
        id: 'rehearse.registries-mode',
        severity: features.hasNodeImagePull ? 'error' : 'info',
        summary: `${path} has mode ${mode.toString(8).padStart(4, '0')}: who is not root cannot read it, and rpm-ostree then knows no mirror`,
        evidence: evidenceText({ file: path, line: 1 }),
        remedy: 'Give it mode 0644 (420 in the config).',
        where: { file: path, line: 1 },
      }),
    ]
  })
}

const localHost = /^(?:localhost(?:\.localdomain)?|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/

/** @param registry `host` or `host:port` */
export function isLocalHost(registry: string): boolean {
  return localHost.test(registry)
}

function localMirrors(bootstrap: BootstrapConfig, entries: readonly RegistryEntry[]): readonly Finding[] {
  const { releaseImage } = bootstrap
  const isReleaseHere = releaseImage?.reference !== undefined && isLocalHost(releaseImage.reference.registry)
  const places = entries.flatMap(({ prefix, mirrors }) =>
    mirrors.flatMap(({ location }) => (isLocalHost(hostOf(location)) ? [{ prefix, location }] : [])),
  )
  const [first] = places
  if (first === undefined && !isReleaseHere) return []
  const at = isReleaseHere ? releaseImage.evidence[0] : registriesLine(bootstrap, first?.location ?? '')
  const what = isReleaseHere ? `The release image ${releaseImage.text}` : `The mirror ${first?.location}`
  const sources = places.map(({ prefix }) => prefix).join(', ')
  return [
    finding({
      id: 'rehearse.mirror-localhost',
      severity: 'error',
      summary: `${what} is at localhost: on the bootstrap host that is the bootstrap host, and on a node the node`,
      evidence: evidenceText(at, sources === '' ? '' : `for ${sources}`),
      remedy:
        'Name the mirror by a DNS name that machines of the cluster resolve and that stands in its certificate: in imageDigestSources, in the pull secret, in the mirror sets. The release image keeps its name at quay.io: mirrors lead it elsewhere.',
      ...(at && { where: at }),
    }),
  ]
}

function insecureMirrors(bootstrap: BootstrapConfig, entries: readonly RegistryEntry[]): readonly Finding[] {
  const places = new Set(
    entries.flatMap(({ prefix, insecure, mirrors }) => [
      ...(insecure ? [prefix] : []),
      ...mirrors.filter((mirror) => mirror.insecure).map(({ location }) => location),
    ]),
  )
  const [first] = places
  if (first === undefined) return []
  const at = registriesLine(bootstrap, first)
  return [
    finding({
      id: 'rehearse.mirror-insecure',
      severity: 'warning',
      summary: `insecure = true for ${[...places].join(', ')}: any certificate is taken there, plain HTTP too, and whoever is on the way can put images into the cluster`,
      evidence: evidenceText(at),
      remedy:
        'Put the CA of the mirror into additionalTrustBundle, and set insecure nowhere. Nodes do not get this setting from the bootstrap config anyway.',
      ...(at && { where: at }),
    }),
  ]
}

function publicHosts({ hosts }: BootstrapConfig): readonly Finding[] {
  return hosts.flatMap(({ address, names, at }) => {
    const name = names.find(isPublicRegistry)
    if (name === undefined) return []
    return [
      finding({
        id: 'rehearse.hosts-entry',
        severity: 'warning',
        summary: `/etc/hosts sends ${name} to ${address}: TLS fails there, since no certificate of yours is for ${name}`,
        evidence: evidenceText(at),
        remedy: `Take the line out. Images of ${name} are led to a mirror by imageDigestSources, which needs no such entry.`,
        where: at,
      }),
    ]
  })
}

/**
 * Where the release could not be read, so that nobody knows its components: the other of the two repositories that every
 * payload of OpenShift comes from.
 */
export function checkComponentSource(bootstrap: BootstrapConfig): readonly Finding[] {
  const release = bootstrap.releaseImage?.reference
  const { conf } = bootstrap.registries
  if (release === undefined || bootstrap.distribution !== 'ocp') return []
  if (conf.registries.every(({ mirrors }) => mirrors.length === 0)) return []
  const reference = { ...componentSource, digest: `sha256:${'0'.repeat(64)}` } as const
  if (resolveEndpoints(conf, reference).endpoints.some(({ isMirror }) => isMirror)) return []
  const at = registriesLine(bootstrap, repositoryName(release))
  const name = repositoryName(componentSource)
  return [
    finding({
      id: 'rehearse.source-uncovered',
      severity: 'error',
      summary: `No mirror covers ${name}, where a payload has its components: each would be asked for at quay.io itself`,
      evidence: evidenceText(at, 'the release image could not be read, so its own names are not known'),
      remedy: `Add it to imageDigestSources of install-config.yaml: {source: ${name}, mirrors: [MIRROR/REPOSITORY]}.`,
      ...(at && { where: at }),
    }),
  ]
}

const componentSource = { registry: 'quay.io', repository: 'openshift-release-dev/ocp-v4.0-art-dev' }

const driftTexts: Readonly<Record<RegistryDifference['kind'], string>> = {
  'only-bootstrap': 'the bootstrap host has mirrors for them, and the nodes have none',
  'only-nodes': 'the nodes have mirrors for them, and the bootstrap host has none',
  mirrors: 'the bootstrap host and the nodes have different mirrors',
  order: 'the bootstrap host and the nodes ask the same mirrors in another order',
  insecure: 'one of bootstrap host and nodes takes any certificate and plain HTTP, the other does not',
  blocked: 'one of bootstrap host and nodes may ask the source, the other may not',
}

const rank = { error: 0, warning: 1, info: 2 }

/** One finding for each way in which they differ: a manifest that is missing makes a difference for every source in it. */
export function driftFindings(differences: readonly RegistryDifference[]): readonly Finding[] {
  const kinds = Map.groupBy(differences, ({ kind, finding: { severity } }) => `${kind} ${severity}`)
  const found = [...kinds.values()].flatMap((all) => {
    const [first] = all
    if (first === undefined) return []
    const sources = [...new Set(all.map(({ source }) => source))]
    const tried = `of ${first.source} by ${first.by} the bootstrap host tries ${first.bootstrap.join(', ')}; nodes try ${first.nodes.join(', ')}`
    return [
      {
        ...first.finding,
        id: 'rehearse.mirrors-drift',
        summary: `Images of ${sources.join(' and ')}: ${driftTexts[first.kind]}`,
        evidence: tried,
      },
    ]
  })
  return found.toSorted((one, other) => rank[one.severity] - rank[other.severity])
}

function hostOf(location: string): string {
  return location.split('/')[0] ?? location
}
