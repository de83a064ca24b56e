/**
 * Where kept bundles run: the last OpenShift that a bundle names, and the first Kubernetes, against the releases that are
 * mirrored with it.
 *
 * OLM refuses to update a cluster past `olm.maxOpenShiftVersion` of what is installed, and to install what wants a newer
 * Kubernetes. Source: operator-framework/operator-lifecycle-manager `pkg/controller/operators/openshift/helpers.go`.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { kubernetesMinor } from '../openshift/kubernetes-minor.ts'
import type { BundleMeta, Catalog } from './meta.ts'
import { writtenVersion } from './select-versions.ts'
import type { CatalogSelection } from './selection.ts'

/** What stands against running a bundle on some of the releases. */
export interface LimitBreach {
  readonly limit: 'openshift' | 'kubernetes'
  /** As the bundle has it. */
  readonly bound: string
  /** The releases that it does not run on. */
  readonly releases: readonly string[]
}

/**
 * @param releases versions such as 4.18.9
 */
export function limitBreaches(
  bundle: Pick<BundleMeta, 'maxOpenShiftVersion' | 'minKubeVersion'>,
  releases: readonly string[],
): LimitBreach[] {
  const breaches: LimitBreach[] = []
  const last = minorOf(bundle.maxOpenShiftVersion)
  if (last !== undefined && bundle.maxOpenShiftVersion !== undefined) {
    const past = releases.filter((release) => (minorOf(release) ?? last) > last)
    if (past.length > 0) breaches.push({ limit: 'openshift', bound: bundle.maxOpenShiftVersion, releases: past })
  }
  const first = writtenVersion(bundle.minKubeVersion)
  if (first !== undefined && bundle.minKubeVersion !== undefined) {
    const before = releases.filter((release) => isBefore(release, first))
    if (before.length > 0) breaches.push({ limit: 'kubernetes', bound: bundle.minKubeVersion, releases: before })
  }
  return breaches
}

function kubernetesOf(release: string): number | undefined {
  const minor = minorOf(release)
  return minor === undefined ? undefined : kubernetesMinor(minor)
}

/** One warning for each package and bound. */
export function limitFindings(
  catalog: Catalog,
  selection: Pick<CatalogSelection, 'kept'>,
  releases: readonly string[],
): Finding[] {
  const groups = new Map<string, { readonly of: string; readonly breach: LimitBreach; readonly bundles: string[] }>()
  for (const { name: of, bundles } of selection.kept.values()) {
    for (const name of bundles) {
      const bundle = catalog.packages.get(of)?.bundles.get(name)
      for (const breach of bundle === undefined ? [] : limitBreaches(bundle, releases)) {
        const key = JSON.stringify([of, breach])
        const group = groups.get(key) ?? { of, breach, bundles: [] }
        groups.set(key, group)
        group.bundles.push(name)
      }
    }
  }
  return [...groups.values()].map(({ of, breach, bundles }) => breachFinding(of, breach, bundles))
}

const mostNames = 3

function breachFinding(of: string, { limit, bound, releases }: LimitBreach, bundles: readonly string[]): Finding {
  const rest = bundles.length - mostNames
  const names = `${bundles.slice(-mostNames).join(', ')}${rest > 0 ? ` and ${rest} more` : ''} of package "${of}"`
  const verb = bundles.length > 1 ? '' : 's'
  const where = releases.join(', ')
  if (limit === 'openshift') {
    const summary = `${names} run${verb} on OpenShift up to ${bound}, and ${where} ${releases.length > 1 ? 'are' : 'is'} mirrored`
    const remedy = `A cluster that has ${bundles.length > 1 ? 'one of them' : 'it'} is not updated past ${bound}: carry a newer version of the operator as well, from the catalog of that OpenShift.`
    return finding({ id: 'catalog.openshift-too-new', severity: 'warning', summary, remedy })
  }
  const summary = `${names} need${bundles.length > 1 ? '' : 's'} Kubernetes ${bound}, and ${where} ${releases.length > 1 ? 'have' : 'has'} ${[...new Set(releases.map((release) => `1.${kubernetesOf(release)}`))].join(', ')}`
  const remedy =
    'It is not installed there: take the catalog of that OpenShift, or an older version of the operator (maxVersion).'
  return finding({ id: 'catalog.kubernetes-too-old', severity: 'warning', summary, remedy })
}

/** Counted on from 4.0; 5.0 is the same release as 4.23. */
function minorOf(version: string | undefined): number | undefined {
  const match = /^"?v?(\d+)\.(\d+)/.exec(version ?? '')
  if (!match || Number(match[1]) < 4) return undefined
  return (Number(match[1]) - 4) * 23 + Number(match[2])
}

/** A patch release of Kubernetes is not known of a release of OpenShift: only minor versions are compared. */
function isBefore(release: string, first: { readonly major: number; readonly minor: number }): boolean {
  const minor = kubernetesOf(release)
  return minor !== undefined && first.major === 1 && minor < first.minor
}
