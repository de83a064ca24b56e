/**
 * From many pulls that failed to the few reasons why: a wrong CA keeps two hundred images away, and is one thing to mend.
 */
import { parseReference, repositoryName } from '../../oci/reference.ts'
import type { RegistriesConf } from '../../registries/registries-conf.ts'
import { resolveEndpoints } from '../../registries/resolve.ts'
import type { FailedPull, Pull } from '../pull/image-puller.ts'
import { decisiveFailure, type FailedEndpoint, type PullFault } from '../pull/pull-failure.ts'
import type { Side } from './level-one-report.ts'
import type { TriedImage } from './pull-images.ts'
import type { WantedImage } from './wanted-images.ts'

/** A fault of one endpoint, or one that no endpoint has. */
export type CauseKind =
  | Exclude<PullFault, 'blob-missing'>
  | 'config-missing'
  | 'layer-missing'
  /** Mirrors are passed over, since the image is asked for by tag. */
  | 'tag-reference'
  /** registries.conf has no mirror for anything. */
  | 'no-mirror'
  /** A location of registries.conf makes no reference of it. */
  | 'rewrite'

export interface PullCause {
  readonly kind: CauseKind
  /** The registry that it is about: of what is asked nowhere, the one of the image's own name. */
  readonly host: string
  /** `HOST/REPOSITORY`, where it is about that and not about the whole registry; else the host. */
  readonly place: string
  /** As the first of its images met it. */
  readonly first: FailedEndpoint
  readonly images: readonly KeptImage[]
}

export interface KeptImage {
  readonly wanted: WantedImage
  readonly side: Side
  /** The reference that was asked for at the endpoint. */
  readonly endpoint: string
  /** False where another endpoint had it. */
  readonly isFailed: boolean
}

/** Faults of a whole registry; all others are about a repository of it. */
const ofRegistry: ReadonlySet<CauseKind> = new Set([
  'name-unresolved',
  'refused',
  'unreachable',
  'timeout',
  'ca-unknown',
  'certificate-name',
  'certificate-no-san',
  'certificate-expired',
  'certificate-not-yet-valid',
  'plain-http',
  'tls',
  'proxy',
  'not-a-registry',
  'credentials-missing',
  'credentials-refused',
  'registry-failing',
  'rate-limited',
])

export type SideConf = Readonly<Partial<Record<Side, RegistriesConf>>>

/** In the order in which images meet them. */
export function pullCauses(tried: readonly TriedImage[], confs: SideConf): readonly PullCause[] {
  const causes = new Map<string, PullCause & { readonly images: KeptImage[] }>()
  for (const { wanted, pulls } of tried) {
    for (const side of ['bootstrap', 'nodes'] as const) {
      const pull = pulls[side]
      const failures = pull === undefined ? [] : failuresOf(pull, confs[side])
      for (const { kind, place, endpoint, isFailed } of failures) {
        const { host } = endpoint
        const key = `${kind} ${place}`
        const cause = causes.get(key) ?? { kind, host, place, first: endpoint, images: [] }
        causes.set(key, cause)
        cause.images.push({ wanted, side, endpoint: endpoint.reference, isFailed })
      }
    }
  }
  return [...causes.values()]
}

interface Failure {
  readonly kind: CauseKind
  readonly place: string
  readonly endpoint: FailedEndpoint
  readonly isFailed: boolean
}

function failuresOf(pull: Pull, conf: RegistriesConf | undefined): readonly Failure[] {
  const isFailed = pull.kind === 'failed'
  const endpoints = pull.kind === 'failed' ? pull.endpoints : pull.before
  if (isFailed && pull.error !== undefined) return [rewriteFailure(pull)]
  const telling = endpoints.filter(({ fault }) => fault !== 'outside' && fault !== 'blocked')
  const blocked = isFailed ? endpoints.filter(({ fault }) => fault === 'blocked') : []
  if (telling.length > 0) return [...telling, ...blocked].map((endpoint) => failureAt(endpoint, isFailed))
  const decisive = isFailed ? decisiveFailure(endpoints) : undefined
  if (decisive === undefined) return []
  if (decisive.fault !== 'outside') return [failureAt(decisive, true)]
  const kind = whyOutside(pull.reference, conf)
  const whole = failureAt(decisive, true)
  return [{ ...whole, kind, ...(kind === 'no-mirror' && { place: decisive.host }) }]
}

function failureAt(endpoint: FailedEndpoint, isFailed: boolean): Failure {
  const { fault, part = 'layer', host, reference } = endpoint
  const kind = fault === 'blob-missing' ? (`${part}-missing` as const) : fault
  // A mirror that is blocked is blocked by an entry for the registry.
  const isOfRegistry = ofRegistry.has(kind) || (kind === 'blocked' && endpoint.isMirror)
  return { kind, place: isOfRegistry ? host : repositoryOf(reference), endpoint, isFailed }
}

function whyOutside(reference: string, conf: RegistriesConf | undefined): CauseKind {
  if (conf === undefined) return 'outside'
  if (conf.registries.every(({ mirrors }) => mirrors.length === 0)) return 'no-mirror'
  const { skipped } = resolveEndpoints(conf, parseReference(reference))
  return skipped.length > 0 ? 'tag-reference' : 'outside'
}

/** No endpoint was tried: the whole pull ends with the error. */
function rewriteFailure({ reference, message, error }: FailedPull): Failure {
  const host = reference.split('/')[0] ?? reference
  const endpoint = { reference, host, isMirror: false, fault: 'other', message } as const
  return { kind: 'rewrite', place: String(error?.details['prefix'] ?? reference), endpoint, isFailed: true }
}

function repositoryOf(reference: string): string {
  return repositoryName(parseReference(reference))
}
