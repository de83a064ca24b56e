import type { Digest } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { Repository } from '../store/repository.ts'
import { answerJson, type Exchange, type RegistryContext } from './exchange.ts'

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
