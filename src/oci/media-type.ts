/** Media types of manifests and layers (OCI image-spec media-types.md; distribution `manifest/schema2`, `manifest/manifestlist`). */

export const mediaTypes = {
  ociManifest: 'application/vnd.oci.image.manifest.v1+json',
  ociIndex: 'application/vnd.oci.image.index.v1+json',
  ociConfig: 'application/vnd.oci.image.config.v1+json',
  ociLayerTar: 'application/vnd.oci.image.layer.v1.tar',
  ociLayerGzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
  ociLayerZstd: 'application/vnd.oci.image.layer.v1.tar+zstd',
  ociEmpty: 'application/vnd.oci.empty.v1+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerConfig: 'application/vnd.docker.container.image.v1+json',
  dockerLayerGzip: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const

/** What a client that understands every kind of manifest sends as `Accept`. */
export const manifestAccept = [
  mediaTypes.ociIndex,
  mediaTypes.dockerList,
  mediaTypes.ociManifest,
  mediaTypes.dockerManifest,
].join(', ')

export function isIndexType(mediaType: string): boolean {
  return mediaType === mediaTypes.ociIndex || mediaType === mediaTypes.dockerList
}

export function isImageManifestType(mediaType: string): boolean {
  return mediaType === mediaTypes.ociManifest || mediaType === mediaTypes.dockerManifest
}

export function isManifestType(mediaType: string): boolean {
  return isIndexType(mediaType) || isImageManifestType(mediaType)
}

/** Layers that by contract stay at their `urls` and are never pushed (image-spec layer.md, "Non-Distributable Layers"). */
export function isForeignLayerType(mediaType: string): boolean {
  return mediaType.includes('.nondistributable.') || mediaType.includes('.foreign.')
}
