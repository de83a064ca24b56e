/**
 * Would anything leave the network? Every image is resolved as a node would resolve it, through the registries.conf
 * that the cluster resources become (openshift/machine-config-operator
 * `pkg/controller/container-runtime-config/helpers.go`), and, where a registry is given, asked for at its mirrors.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import type { RegistriesConf } from '../registries/registries-conf.ts'
import { type Endpoint, type Resolution, resolveEndpoints } from '../registries/resolve.ts'
import { isMade } from './made-content.ts'

export interface EgressOptions {
  readonly conf: RegistriesConf
  /** The registries, `host` or `host:port`, that a node may reach. */
  readonly inside: ReadonlySet<string>
  /** Asks each mirror for the image; undefined to compute only. */
  readonly registry?: Pick<ContentSource, 'resolve'>
  readonly signal: AbortSignal
}

export interface EgressReport {
  readonly references: number
  /** References that an endpoint inside answered for, or would, when none was asked. */
  readonly inside: number
  readonly isAsked: boolean
  readonly findings: readonly Finding[]
}

export async function verifyEgress(references: readonly Reference[], options: EgressOptions): Promise<EgressReport> {
  // What was made here has no other name than the one at the target, and is pulled by that.
  const named = references.filter((reference) => !isMade(reference))
  const unique = [...new Map(named.map((reference) => [formatReference(reference), reference])).values()]
  const found = await mapConcurrently(unique, 16, (reference) => check(reference, options))
  const findings = found.filter((one) => one !== undefined)
  return {
    references: unique.length,
    inside: unique.length - findings.length,
    isAsked: options.registry !== undefined,
    findings: findings.toSorted((a, b) => (a.summary < b.summary ? -1 : 1)),
  }
}

async function check(reference: Reference, options: EgressOptions): Promise<Finding | undefined> {
  const name = formatReference(reference)
  let resolution: Resolution
  try {
    resolution = resolveEndpoints(options.conf, reference)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return finding({ id: 'egress.unresolvable', severity: 'error', summary: error.message, remedy: error.hint })
  }
  const usable = resolution.endpoints.filter(({ blockedBy }) => blockedBy === undefined)
  const [first] = usable
  if (!first) return blocked(name, resolution)
  if (!isInside(first, options)) return outside(name, first, resolution)
  return options.registry && askInside(name, usable, { ...options, registry: options.registry })
}

function isInside({ reference }: Endpoint, { inside }: EgressOptions): boolean {
  return inside.has(reference.registry)
}

/** A node tries the endpoints in order; the first outside one that it comes to is where the pull would leave. */
async function askInside(
  name: string,
  usable: readonly Endpoint[],
  options: EgressOptions & Required<Pick<EgressOptions, 'registry'>>,
): Promise<Finding | undefined> {
  const answers: string[] = []
  for (const endpoint of usable) {
    const asked = formatReference(endpoint.reference)
    if (!isInside(endpoint, options)) return fallsThrough(name, asked, answers)
    try {
      if (await options.registry.resolve(endpoint.reference, options.signal)) return undefined
      answers.push(`${asked}: not there`)
    } catch (error) {
      options.signal.throwIfAborted()
      if (!(error instanceof KnownError)) throw error
      answers.push(`${asked}: ${error.message}`)
    }
  }
  return fallsThrough(name, undefined, answers)
}

function fallsThrough(name: string, next: string | undefined, answers: readonly string[]): Finding {
  const then = next === undefined ? 'and there is nothing else to try' : `so a node would go on to ${next}`
  return finding({
    id: 'egress.mirror-lacks-image',
    severity: 'error',
    summary: `${name}: no mirror has it, ${then}`,
    evidence: answers.join('; '),
    remedy: 'Mirror this image (sallyport mirror with the same configuration), then check again.',
  })
}

function blocked(name: string, { endpoints }: Resolution): Finding {
  return finding({
    id: 'egress.blocked',
    severity: 'error',
    summary: `${name}: every endpoint is blocked, a node could not pull it`,
    evidence: endpoints
      .map(({ reference, blockedBy }) => `${formatReference(reference)} blocked by ${blockedBy}`)
      .join('; '),
    remedy: 'Give this source a mirror that is not blocked.',
  })
}

function outside(name: string, first: Endpoint, { skipped }: Resolution): Finding {
  const passedOver = skipped.map(({ location, why }) => `${location}: ${why}`).join('; ')
  return finding({
    id: 'egress.leaves-network',
    severity: 'error',
    summary: `${name}: a node would pull it from ${first.reference.registry}, outside`,
    evidence: [first.why, passedOver].filter(Boolean).join('; '),
    remedy:
      skipped.length > 0
        ? 'The mirrors above do not serve this kind of reference: name the image by digest, or add an ImageTagMirrorSet.'
        : 'Add the image to the ImageSetConfiguration, mirror it, and apply the cluster resources.',
  })
}
