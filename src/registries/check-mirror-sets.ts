/**
 * What the machine config operator refuses, in its words. It then renders no registries.conf at all, and the nodes
 * keep the one they have.
 *
 * Source: machine-config-operator `pkg/controller/container-runtime-config/helpers.go:validateRegistriesConfScopes,
 * getValidBlockedAndAllowedRegistries`.
 */
import { KnownError } from '../errors/known-error.ts'
import { repositoryName } from '../oci/reference.ts'
import type { ClusterRegistries, MirrorSet } from './node-conf.ts'
import type { RegistriesConf } from './registries-conf.ts'
import { resolveEndpoints } from './resolve.ts'
import { isMirrorLocation, isMirrorSource, isNestedScope, isScope } from './scope.ts'

/** @throws KnownError MIRROR_SET_INVALID */
export function checkMirrorSets(cluster: ClusterRegistries): void {
  checkScopes('insecure', cluster.insecureRegistries)
  checkScopes('blocked', cluster.blockedRegistries)
  checkScopes('allowed', cluster.allowedRegistries)
  if ((cluster.allowedRegistries ?? []).length > 0 && (cluster.blockedRegistries ?? []).length > 0)
    throw invalid('invalid images config: only one of AllowedRegistries or BlockedRegistries may be specified')
  const policies = new Map<string, string>()
  const withoutPolicy = (cluster.icsp ?? []).map(({ source, mirrors = [] }) => ({ source, mirrors }))
  for (const set of [...(cluster.idms ?? []), ...withoutPolicy, ...(cluster.itms ?? [])]) checkMirrorSet(set, policies)
}

/** A wildcard source whose mirrors would have to be written to an entry within it: no path tells them apart. */
export function wildcardNesting(source: string): KnownError {
  return invalid(`internal error: mirrorsAdjustedForNestedScope for a wildcard scope ${JSON.stringify(source)}`, source)
}

/**
 * The registry of the release image may be blocked only where a mirror that is not blocked has it.
 *
 * @throws KnownError MIRROR_SET_INVALID
 */
export function checkPayload(conf: RegistriesConf, { releaseImage, blockedRegistries = [] }: ClusterRegistries): void {
  if (releaseImage === undefined) return
  const blocking = blockedRegistries.filter((scope) => isNestedScope(repositoryName(releaseImage), scope))
  const isReachable = resolveEndpoints(conf, releaseImage).endpoints.some(({ blockedBy }) => blockedBy === undefined)
  if (blocking.length === 0 || isReachable) return
  const scopes = blocking.map((scope) => JSON.stringify(scope)).join(' ')
  throw invalid(
    `error adding [${scopes}] to blocked registries, cannot block the repository being used by the payload`,
    blocking.join(' '),
  )
}

function checkScopes(kind: string, scopes: readonly string[] = []): void {
  for (const scope of scopes) {
    if (!isScope(scope)) throw invalid(`invalid entry for ${kind} registries ${JSON.stringify(scope)}`, scope)
  }
}

function checkMirrorSet({ source, mirrors = [], mirrorSourcePolicy }: MirrorSet, policies: Map<string, string>): void {
  const quoted = JSON.stringify(source)
  const policy = mirrorSourcePolicy ?? 'AllowContactingSource'
  if (!isMirrorSource(source)) throw invalid(`invalid format for source ${quoted}`, source)
  if ((policies.get(source) ?? policy) !== policy)
    throw invalid(
      `conflicting mirrorSourcePolicy is set for the same source ${quoted} in imagedigestmirrorsets, imagetagmirrorsets, or imagecontentsourcepolicies`,
      source,
    )
  policies.set(source, policy)
  for (const mirror of mirrors) {
    if (!isMirrorLocation(mirror)) throw invalid(`invalid format for mirror ${JSON.stringify(mirror)}`, source)
    if (policy === 'NeverContactSource' && mirror === source)
      throw invalid(
        `cannot set mirrorSourcePolicy: NeverContactSource if the source ${quoted} is one of the mirrors`,
        source,
      )
  }
}

function invalid(message: string, place?: string): KnownError {
  return new KnownError('MIRROR_SET_INVALID', message, { details: { place } })
}
