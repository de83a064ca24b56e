/** From an error of the registry client to what podman would say, and which kind it is. */
import { KnownError } from '../../errors/known-error.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { type Reference, repositoryName } from '../../oci/reference.ts'
import type { CredentialsProvider } from '../../remote/credentials.ts'
import { connectionFailure } from './host-probe.ts'
import type { PullFailure } from './pull-failure.ts'

export interface AskedContent {
  readonly reference: Reference
  readonly credentials: CredentialsProvider
  /** Absent where the manifest was asked for. */
  readonly blob?: Descriptor
}

export async function registryFailure(error: unknown, asked: AskedContent): Promise<PullFailure> {
  if (!(error instanceof KnownError)) throw error
  const { reference, blob } = asked
  const { tag, digest, registry } = reference
  const place = repositoryName(reference)
  const subject = blob === undefined ? `reading manifest ${digest ?? tag} in ${place}` : `reading blob ${blob.digest}`
  const evidence = error.message
  const status = error.details['status'] ?? ''
  switch (error.code) {
    case 'REGISTRY_UNAUTHORIZED':
      return unauthorized(subject, asked, evidence)
    case 'REGISTRY_DENIED':
      return { fault: 'denied', message: `${subject}: denied: requested access to the resource is denied`, evidence }
    case 'MANIFEST_UNKNOWN':
      return { fault: 'manifest-missing', message: `${subject}: manifest unknown`, evidence }
    case 'BLOB_UNKNOWN':
      return { fault: 'blob-missing', message: `${subject}: fetching blob: blob unknown to registry`, evidence }
    case 'REGISTRY_RATE_LIMITED':
      return { fault: 'rate-limited', message: `${subject}: toomanyrequests: ${status}`, evidence }
    case 'REGISTRY_FAILED':
      return { fault: 'registry-failing', message: `${subject}: received unexpected HTTP status: ${status}`, evidence }
    case 'MANIFEST_INVALID':
    case 'BLOB_DIGEST_MISMATCH':
    case 'BLOB_SIZE_MISMATCH':
      return { fault: 'content-damaged', message: `${subject}: ${error.message}`, evidence }
    case 'REGISTRY_TLS':
    case 'REGISTRY_UNREACHABLE':
    case 'REGISTRY_STALLED': {
      const failure = connectionFailure(error.cause, new URL(`https://${registry}/v2/`))
      return { ...failure, message: `pinging container registry ${registry}: ${failure.message}`, evidence }
    }
    case 'INTERRUPTED':
      throw error
    default:
      return { fault: 'other', message: `${subject}: ${error.message}`, evidence }
  }
}

async function unauthorized(subject: string, { reference, credentials }: AskedContent, seen: string) {
  const { registry, repository } = reference
  const found = await credentials.find(registry, repository)
  const message = `${subject}: unauthorized: authentication required`
  if (found !== undefined) {
    const evidence = `${seen}; the pull secret's entry for ${found.key} was shown`
    return { fault: 'credentials-refused', message, evidence } as const
  }
  return { fault: 'credentials-missing', message, evidence: `the pull secret has no entry for ${registry}` } as const
}
