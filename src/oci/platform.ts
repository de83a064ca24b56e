/** A platform as image indexes name it (OCI image-spec image-index.md, `platform`). */
export interface Platform {
  readonly os: string
  readonly architecture: string
  readonly variant?: string | undefined
  readonly 'os.version'?: string | undefined
}

/** `linux/arm64/v8`, as podman and docker write it. */
export function formatPlatform(platform: Platform): string {
  return [platform.os, platform.architecture, platform.variant].filter(Boolean).join('/')
}
