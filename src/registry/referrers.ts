/** Referrers: distribution-spec, "Listing Referrers". */
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import type { Manifest } from '../oci/manifest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { Repository } from '../store/repository.ts'
import { answerJson, type Exchange, type RegistryContext } from './exchange.ts'

/** Under which descriptor a manifest is listed with its subject. */
export function referrerDescriptor(manifest: Manifest, content: { digest: Digest; size: number }): Descriptor {
  const { mediaType, annotations } = manifest
  const configType = manifest.kind === 'image' ? manifest.config.mediaType : undefined
  const artifactType = manifest.artifactType || configType
  return {
    mediaType,
    ...content,
    ...(artifactType !== undefined && { artifactType }),
    ...(annotations !== undefined && { annotations }),
  }
}

export function listReferrers(
  { store }: RegistryContext,
  route: { readonly name: string; readonly digest: Digest },
  exchange: Exchange,
): void {
  const wanted = exchange.query.get('artifactType')
  const all = new Repository(store, route.name).referrers(route.digest)
  const manifests = wanted === null ? all : all.filter(({ artifactType }) => artifactType === wanted)
  answerJson(
    exchange,
    { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests },
    { 'Content-Type': mediaTypes.ociIndex, ...(wanted !== null && { 'OCI-Filters-Applied': 'artifactType' }) },
  )
}
