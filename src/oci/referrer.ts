import type { Descriptor } from './descriptor.ts'
import type { Digest } from './digest.ts'
import type { Manifest } from './manifest.ts'

/** Under which descriptor a manifest is listed with its subject (distribution-spec, "Pushing Manifests with Subject"). */
export function referrerDescriptor(manifest: Manifest, content: { digest: Digest; size: number }): Descriptor {
  const { mediaType, annotations } = manifest
  const configType = manifest.kind === 'image' ? manifest.config.mediaType : undefined
  const artifactType = manifest.artifactType || configType
  const { digest, size } = content
  return {
    mediaType,
    digest,
    size,
    ...(artifactType !== undefined && { artifactType }),
    ...(annotations !== undefined && { annotations }),
  }
}
