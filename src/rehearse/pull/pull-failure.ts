/**
 * Why an image cannot be pulled: the kind, and the words in which podman, CRI-O and ostree would say it.
 *
 * The words matter: they are what stands in the journal of the bootstrap host, and what people search for.
 *
 * Source: containers/image `docker/docker_client.go`, `docker/docker_image_src.go`; Go `crypto/x509/verify.go`, `net`;
 * the grammar of the whole is that of installer knowledge, "Mirrors also failed".
 */

/** The kinds that have different remedies. */
export type PullFault =
  | 'name-unresolved'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'ca-unknown'
  | 'certificate-name'
  | 'certificate-no-san'
  | 'certificate-expired'
  | 'certificate-not-yet-valid'
  | 'plain-http'
  | 'tls'
  | 'proxy'
  | 'not-a-registry'
  | 'credentials-missing'
  | 'credentials-refused'
  | 'denied'
  | 'manifest-missing'
  | 'blob-missing'
  | 'content-damaged'
  | 'registry-failing'
  | 'rate-limited'
  | 'blocked'
  | 'outside'
  | 'platform-missing'
  | 'other'

export interface PullFailure {
  readonly fault: PullFault
  /** As podman says it, without the reference before it. */
  readonly message: string
  /** What was asked and answered, where the message does not tell. */
  readonly evidence?: string
  /** Which blob of the image it is about, where it is about one. */
  readonly part?: 'config' | 'layer'
}

/** One endpoint that was tried, or would have been. */
export interface FailedEndpoint extends PullFailure {
  /** The physical reference. */
  readonly reference: string
  readonly host: string
  readonly isMirror: boolean
}

/** `docker://REF: (Mirrors also failed: [M: E]\n[M2: E2]): REF: E`, or the one error there is. */
export function pullMessage(endpoints: readonly FailedEndpoint[]): string {
  const [own, ...mirrors] = [...endpoints].reverse()
  if (own === undefined) return 'no endpoint'
  const said = `${own.reference}: ${own.message}`
  if (mirrors.length === 0) return own.message
  const failed = mirrors.reverse().map(({ reference, message }) => `[${reference}: ${message}]`)
  return `(Mirrors also failed: ${failed.join('\n')}): ${said}`
}

/** The failure that explains: the one of the first mirror, since the source itself is out of reach by design. */
export function decisiveFailure(endpoints: readonly FailedEndpoint[]): FailedEndpoint | undefined {
  const isTelling = ({ fault }: FailedEndpoint) => fault !== 'outside' && fault !== 'blocked'
  return endpoints.find(isTelling) ?? endpoints.find(({ fault }) => fault === 'blocked') ?? endpoints[0]
}
