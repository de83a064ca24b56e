/**
 * What the bootstrap host and the nodes do differently when they look for the same image.
 *
 * Compared is what is tried, in order, not how the files say it: an entry that a wider one stands in for makes no
 * difference.
 */
import { type Finding, finding, type Severity } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { type Reference, repositoryName } from '../../oci/reference.ts'
import type { RegistriesConf } from '../../registries/registries-conf.ts'
import { resolveEndpoints } from '../../registries/resolve.ts'
import type { BootstrapConfig } from './bootstrap-config.ts'
import type { NodeRegistries } from './node-registries.ts'

export interface RegistryDifference {
  /** What image names begin with. */
  readonly source: string
  /** How images are named for which it makes a difference. */
  readonly by: 'digest' | 'tag'
  readonly kind: 'only-bootstrap' | 'only-nodes' | 'mirrors' | 'order' | 'insecure' | 'blocked'
  /** What is tried, in order: `LOCATION`, with ` (insecure)` and ` (blocked)` behind it. */
  readonly bootstrap: readonly string[]
  readonly nodes: readonly string[]
  readonly finding: Finding
}

/** Sources in order. Nothing where the operator refuses the nodes' side: that is a finding already. */
export function compareRegistries(bootstrap: BootstrapConfig, nodes: NodeRegistries): readonly RegistryDifference[] {
  const { conf } = nodes
  if (conf === undefined) return []
  const own = bootstrap.registries.conf
  const sources = new Set([...own.registries, ...conf.registries].map(({ prefix }) => prefix))
  return [...sources].sort().flatMap((source) =>
    (['digest', 'tag'] as const).flatMap((by) => {
      const sides = { bootstrap: triedIn(own, source, by), nodes: triedIn(conf, source, by) }
      const kind = kindOf(sides.bootstrap, sides.nodes)
      if (kind === undefined) return []
      const texts = { bootstrap: sides.bootstrap.map(textOf), nodes: sides.nodes.map(textOf) }
      const difference = { source, by, kind, ...texts }
      return [{ ...difference, finding: findingOf(difference, isOfRelease(source, bootstrap)) }]
    }),
  )
}

interface Tried {
  readonly location: string
  readonly isMirror: boolean
  readonly insecure: boolean
  readonly isBlocked: boolean
}

const probe = 'probe'
const digest = `sha256:${'0'.repeat(64)}` as const

function triedIn(conf: RegistriesConf, source: string, by: 'digest' | 'tag'): readonly Tried[] {
  const name = source.replace(/^\*\./, `${probe}.`)
  const [registry = '', ...path] = `${name}/${probe}`.split('/')
  const base = { registry, repository: path.join('/') }
  const reference: Reference = by === 'digest' ? { ...base, digest } : { ...base, tag: 'latest' }
  try {
    return resolveEndpoints(conf, reference).endpoints.map((endpoint) => ({
      location: repositoryName(endpoint.reference).slice(0, -`/${probe}`.length),
      isMirror: endpoint.isMirror,
      insecure: endpoint.insecure,
      isBlocked: endpoint.blockedBy !== undefined,
    }))
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return [{ location: error.message, isMirror: false, insecure: false, isBlocked: true }]
  }
}

function textOf({ location, insecure, isBlocked }: Tried): string {
  return `${location}${insecure ? ' (insecure)' : ''}${isBlocked ? ' (blocked)' : ''}`
}

function kindOf(bootstrap: readonly Tried[], nodes: readonly Tried[]): RegistryDifference['kind'] | undefined {
  const [one, other] = [bootstrap, nodes].map((tried) => tried.filter(({ isMirror }) => isMirror))
  const locations = (tried: readonly Tried[] = []) => tried.map(({ location }) => location)
  const isSame = (left: readonly unknown[], right: readonly unknown[]) => JSON.stringify(left) === JSON.stringify(right)
  if (one?.length !== 0 && other?.length === 0) return 'only-bootstrap'
  if (one?.length === 0 && other?.length !== 0) return 'only-nodes'
  if (!isSame(locations(one).toSorted(), locations(other).toSorted())) return 'mirrors'
  if (!isSame(locations(one), locations(other))) return 'order'
  if (
    !isSame(
      bootstrap.map(({ isBlocked }) => isBlocked),
      nodes.map(({ isBlocked }) => isBlocked),
    )
  )
    return 'blocked'
  if (
    !isSame(
      bootstrap.map(({ insecure }) => insecure),
      nodes.map(({ insecure }) => insecure),
    )
  )
    return 'insecure'
  return undefined
}

/** The bootstrap host itself pulls from these two repositories, and from nothing else. */
function isOfRelease(source: string, { releaseImage }: BootstrapConfig): boolean {
  const names = ['quay.io/openshift-release-dev/ocp-v4.0-art-dev']
  if (releaseImage?.reference !== undefined) names.push(repositoryName(releaseImage.reference))
  return names.some((name) => name === source || name.startsWith(`${source}/`) || source.startsWith(`${name}/`))
}

type Unexplained = Omit<RegistryDifference, 'finding'>

function findingOf({ source, by, kind, bootstrap, nodes }: Unexplained, isReleaseSource: boolean): Finding {
  const { severity, says, remedy } = explanation({ kind, by, isReleaseSource })
  return finding({
    id: `registries.differ-${kind}`,
    severity,
    summary: `Images of ${source} named by ${by}: ${says}`,
    evidence: `bootstrap tries ${bootstrap.join(', ')}; nodes try ${nodes.join(', ')}`,
    ...(remedy !== undefined && { remedy }),
  })
}

interface Case extends Pick<RegistryDifference, 'kind' | 'by'> {
  readonly isReleaseSource: boolean
}

function explanation({ kind, by, isReleaseSource }: Case): { severity: Severity; says: string; remedy?: string } {
  switch (kind) {
    case 'only-bootstrap':
      return {
        severity: by === 'digest' && isReleaseSource ? 'error' : 'warning',
        says: 'the bootstrap host has mirrors, the nodes have none',
        remedy: 'Add the mirrors to a mirror set in openshift/ or manifests/, where nodes get theirs from.',
      }
    case 'only-nodes':
      return {
        severity: by === 'digest' && isReleaseSource ? 'error' : 'info',
        says: 'the nodes have mirrors, the bootstrap host has none',
        remedy: isReleaseSource
          ? 'Add the mirrors to imageDigestSources of the install-config, or to the bootstrap config by a drop-in of registries.conf.d.'
          : 'Nothing, unless the bootstrap host itself needs such an image: mirror sets never reach it.',
      }
    case 'blocked':
      return { severity: 'warning', says: 'one of them may not ask the source, the other may' }
    case 'insecure':
      return {
        severity: 'warning',
        says: 'one of them accepts plain HTTP and any certificate, the other does not',
        remedy: 'Give the mirror a certificate that its CA vouches for, and set insecure nowhere.',
      }
    case 'mirrors':
      return {
        severity: isReleaseSource ? 'warning' : 'info',
        says: 'bootstrap host and nodes have different mirrors',
        remedy: 'Make imageDigestSources of the install-config and the mirror sets say the same.',
      }
    case 'order':
      return { severity: 'info', says: 'bootstrap host and nodes ask the same mirrors in another order' }
  }
}
