/**
 * The registries.conf that the machine config operator writes to every node, out of the cluster's resources.
 *
 * Nodes of 4.13 and later: mirrors carry `pull-from-mirror`. What the bootstrap host gets is rendered from the
 * install-config instead and knows neither tag mirrors nor insecure or blocked registries.
 *
 * Source: openshift/runtime-utils `pkg/registries/registries.go:EditRegistriesConfig` and machine-config-operator
 * `pkg/controller/container-runtime-config/helpers.go`.
 */
import type { Reference } from '../oci/reference.ts'
import { checkEntries } from './check-entries.ts'
import { checkMirrorSets, checkPayload, wildcardNesting } from './check-mirror-sets.ts'
import { mergedMirrors } from './mirror-order.ts'
import type { RegistriesConf, RegistryEntry, RegistryMirror } from './registries-conf.ts'
import { isNestedScope } from './scope.ts'

/** One element of `imageDigestMirrors`, `imageTagMirrors` or `repositoryDigestMirrors`. */
export interface MirrorSet {
  readonly source: string
  readonly mirrors?: readonly string[]
  /** Not in an ImageContentSourcePolicy; there it is ignored. */
  readonly mirrorSourcePolicy?: 'AllowContactingSource' | 'NeverContactSource'
}

export interface ClusterRegistries {
  /** Of all ImageDigestMirrorSets together, in the order of the documents. */
  readonly idms?: readonly MirrorSet[]
  /** Of all ImageTagMirrorSets. */
  readonly itms?: readonly MirrorSet[]
  /** Of all ImageContentSourcePolicies: digest mirrors without a policy. */
  readonly icsp?: readonly MirrorSet[]
  /** `registrySources` of `image.config.openshift.io/cluster`. */
  readonly insecureRegistries?: readonly string[]
  readonly blockedRegistries?: readonly string[]
  readonly allowedRegistries?: readonly string[]
  /** By digest, as the nodes ask for it. Its registry may be blocked only where an unblocked mirror has it. */
  readonly releaseImage?: Reference
}

/** Stands for the file in messages: `RegistryEntry.origin`. */
const origin = 'registries.conf of the nodes'

/** @throws KnownError MIRROR_SET_INVALID where the operator would refuse, and so write nothing at all */
export function nodeRegistriesConf(cluster: ClusterRegistries): RegistriesConf {
  checkMirrorSets(cluster)
  const entries: Draft[] = []
  const withoutPolicy = (cluster.icsp ?? []).map(({ source, mirrors = [] }) => ({ source, mirrors }))
  const digestSets = groupBySource([...(cluster.idms ?? []), ...withoutPolicy])
  const tagSets = groupBySource(cluster.itms ?? [])
  for (const set of digestSets) addMirrors(entries, set, 'digest-only')
  for (const set of tagSets) addMirrors(entries, set, 'tag-only')
  for (const scope of cluster.blockedRegistries ?? []) entryOf(entries, scope)
  for (const scope of cluster.insecureRegistries ?? []) markInsecure(entries, scope)
  for (const scope of cluster.blockedRegistries ?? []) markBlocked(entries, scope)
  for (const { source } of [...digestSets, ...tagSets]) inheritMirrors(entries, source)
  const conf = {
    registries: checkEntries(entries),
    unqualifiedSearchRegistries: ['registry.access.redhat.com', 'docker.io'],
  }
  checkPayload(conf, cluster)
  return conf
}

type Draft = { -readonly [Name in keyof RegistryEntry]: RegistryEntry[Name] }

interface SourceSets {
  readonly source: string
  readonly isBlocked: boolean
  readonly lists: readonly (readonly string[])[]
}

/** A set whose every mirror is the source counts for nothing, and its policy with it. */
function groupBySource(sets: readonly MirrorSet[]): readonly SourceSets[] {
  const real = sets.filter(({ source, mirrors = [] }) => mirrors.some((mirror) => mirror !== source))
  return [...new Set(real.map(({ source }) => source))].sort().map((source) => {
    const own = real.filter((set) => set.source === source)
    const isBlocked = own.some((set) => set.mirrorSourcePolicy === 'NeverContactSource')
    return { source, isBlocked, lists: own.map((set) => set.mirrors ?? []) }
  })
}

function entryOf(entries: Draft[], scope: string): Draft {
  const existing = entries.find(({ prefix }) => prefix === scope)
  if (existing !== undefined) return existing
  const location = scope.startsWith('*.') ? '' : scope
  const added = {
    prefix: scope,
    location,
    insecure: false,
    blocked: false,
    mirrorByDigestOnly: false,
    mirrors: [],
    origin,
  }
  entries.push(added)
  return added
}

function addMirrors(entries: Draft[], set: SourceSets, pullFromMirror: 'digest-only' | 'tag-only'): void {
  const entry = entryOf(entries, set.source)
  entry.blocked ||= set.isBlocked
  const added = mergedMirrors(set.source, set.lists).map((location): RegistryMirror => {
    return { location, insecure: false, pullFromMirror }
  })
  entry.mirrors = [...entry.mirrors, ...added]
}

/** Only the longest prefix counts on a node, so what holds for a scope is written to all entries within it. */
function markInsecure(entries: Draft[], scope: string): void {
  entryOf(entries, scope)
  for (const entry of entries) {
    entry.insecure ||= isNestedScope(entry.prefix, scope)
    entry.mirrors = entry.mirrors.map((mirror) => {
      return { ...mirror, insecure: mirror.insecure || isNestedScope(mirror.location, scope) }
    })
  }
}

function markBlocked(entries: Draft[], scope: string): void {
  for (const entry of entries) entry.blocked ||= isNestedScope(entry.prefix, scope)
}

/** Entries that are there only to be blocked or insecure would otherwise hide the mirrors of the scope around them. */
function inheritMirrors(entries: Draft[], source: string): void {
  const { mirrors } = entryOf(entries, source)
  for (const entry of entries) {
    if (entry.prefix === source || entry.mirrors.length > 0 || !isNestedScope(entry.prefix, source)) continue
    if (source.startsWith('*.')) throw wildcardNesting(source)
    entry.mirrors = mirrors.map((mirror) => ({
      ...mirror,
      location: mirror.location + entry.prefix.slice(source.length),
    }))
  }
}
