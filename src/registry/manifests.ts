/** Manifests: distribution-spec, "Pulling manifests", "Pushing Manifests", "Deleting Manifests", "Deleting tags". */
import { closeSync, readFileSync } from 'node:fs'
import { algorithmOf, type Digest, digestOf } from '../oci/digest.ts'
import { blobsOf, childrenOf, type Manifest, parseManifest } from '../oci/manifest.ts'
import { isManifestType } from '../oci/media-type.ts'
import { isTag } from '../oci/reference.ts'
import { referrerDescriptor } from '../oci/referrer.ts'
import { type ManifestRecord, Repository } from '../store/repository.ts'
import { answer, answerBytes, type Exchange, type RegistryContext } from './exchange.ts'
import { receiveManifest } from './receive.ts'
import { Refusal } from './refusal.ts'
import type { ManifestTarget } from './route.ts'

interface ManifestRoute {
  readonly name: string
  readonly target: ManifestTarget
}

/** GET and HEAD. The type is the one that it was pushed with, whatever the client says it accepts. */
export function getManifest(context: RegistryContext, route: ManifestRoute, exchange: Exchange): void {
  const repository = new Repository(context.store, route.name)
  const digest = 'digest' in route.target ? route.target.digest : repository.resolve(route.target.tag)
  const mediaType = digest === undefined ? undefined : repository.mediaTypeOf(digest)
  if (digest === undefined || mediaType === undefined) throw unknownManifest(repository, route.target)
  if (exchange.request.method === 'HEAD') repository.renewManifest(digest)
  answerBytes(exchange, readManifest(context, digest), {
    'Content-Type': mediaType,
    'Docker-Content-Digest': digest,
    ETag: `"${digest}"`,
  })
}

export async function putManifest(context: RegistryContext, route: ManifestRoute, exchange: Exchange): Promise<void> {
  const { request, query } = exchange
  const repository = new Repository(context.store, route.name)
  const bytes = await receiveManifest(request)
  const digest = digestOf(bytes, 'digest' in route.target ? algorithmOf(route.target.digest) : 'sha256')
  if ('digest' in route.target && route.target.digest !== digest)
    throw new Refusal('DIGEST_INVALID', `the manifest is ${digest}, not ${route.target.digest}`)
  const manifest = parseManifest(bytes, contentType(exchange), `${route.name}@${digest}`)
  if (contentType(exchange) !== undefined && manifest.mediaType !== contentType(exchange))
    throw new Refusal(
      'MANIFEST_INVALID',
      `Content-Type is ${contentType(exchange)}, mediaType is ${manifest.mediaType}`,
    )
  const record = recordOf(manifest, { digest, bytes, tags: tagsAsked(route.target, query) })
  await repository.putManifest(record, () => requireContent(context, repository, manifest))
  answer(exchange, 201, {
    Location: `/v2/${route.name}/manifests/${digest}`,
    'Docker-Content-Digest': digest,
    ...(record.referrer !== undefined && { 'OCI-Subject': record.referrer.subject }),
    ...('digest' in route.target && record.tags.length > 0 && { 'OCI-Tag': record.tags.join(', ') }),
  })
}

export async function deleteManifest(
  context: RegistryContext,
  route: ManifestRoute,
  exchange: Exchange,
): Promise<void> {
  const repository = new Repository(context.store, route.name)
  const isGone =
    'tag' in route.target
      ? await repository.removeTag(route.target.tag)
      : await repository.removeManifest(route.target.digest, subjectOf(context, repository, route.target.digest))
  if (!isGone) throw unknownManifest(repository, route.target)
  answer(exchange, 202)
}

function readManifest({ store }: RegistryContext, digest: Digest): Buffer {
  const blob = store.open(digest)
  if (blob === undefined) throw new Refusal('MANIFEST_UNKNOWN', `the bytes of ${digest} are gone`)
  try {
    return readFileSync(blob.file)
  } finally {
    closeSync(blob.file)
  }
}

function subjectOf(context: RegistryContext, repository: Repository, digest: Digest): Digest | undefined {
  const mediaType = repository.mediaTypeOf(digest)
  // A manifest whose bytes are lost must still be possible to delete.
  if (mediaType === undefined || context.store.sizeOf(digest) === undefined) return undefined
  return parseManifest(readManifest(context, digest), mediaType, `${repository.name}@${digest}`).subject?.digest
}

function unknownManifest(repository: Repository, target: ManifestTarget): Refusal {
  const text = 'digest' in target ? `@${target.digest}` : `:${target.tag}`
  if (!repository.exists()) return new Refusal('NAME_UNKNOWN', `there is no repository ${repository.name}`)
  return new Refusal('MANIFEST_UNKNOWN', `there is no manifest ${repository.name}${text}`)
}

/** The type without parameters; undefined where the client gave none that names a kind of manifest. */
function contentType({ request }: Exchange): string | undefined {
  const type = request.headers['content-type']?.split(';')[0]?.trim()
  return type !== undefined && isManifestType(type) ? type : undefined
}

function tagsAsked(target: ManifestTarget, query: URLSearchParams): string[] {
  if ('tag' in target) return [target.tag]
  const tags = query.getAll('tag')
  const wrong = tags.find((tag) => !isTag(tag))
  if (wrong !== undefined) throw new Refusal('MANIFEST_INVALID', `"${wrong}" is not a tag`)
  return tags
}

function recordOf(manifest: Manifest, pushed: { digest: Digest; bytes: Buffer; tags: string[] }): ManifestRecord {
  const { mediaType, subject } = manifest
  if (subject === undefined) return { ...pushed, mediaType }
  const descriptor = referrerDescriptor(manifest, { digest: pushed.digest, size: pushed.bytes.byteLength })
  return { ...pushed, mediaType, referrer: { subject: subject.digest, descriptor } }
}

/** @throws Refusal MANIFEST_BLOB_UNKNOWN that lists everything that is missing */
function requireContent(context: RegistryContext, repository: Repository, manifest: Manifest): void {
  const { store, sparseIndex } = context
  // Renewed rather than looked at: garbage collection then leaves alone what is found here.
  const isMissing = (digest: Digest) => !repository.renewBlob(digest) || store.sizeOf(digest) === undefined
  const blobs = blobsOf(manifest).filter(({ digest }) => isMissing(digest))
  const absent = childrenOf(manifest).filter(({ digest }) => !repository.renewManifest(digest))
  const children = sparseIndex === 'allow' ? [] : absent
  const missing = [...blobs, ...children].map(({ digest }) => digest)
  if (missing.length === 0) return
  const what = children.length > 0 ? 'manifests (this registry refuses sparse indexes)' : 'blobs'
  throw new Refusal(
    'MANIFEST_BLOB_UNKNOWN',
    `${repository.name} lacks ${missing.length} ${what}: ${missing.join(', ')}`,
    {
      detail: missing.map((digest) => ({ digest })),
    },
  )
}
