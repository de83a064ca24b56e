/** What asking for everything that a bootstrap will ask for has shown. Plain and serialisable. */
import type { Finding } from '../../errors/finding.ts'
import type { Evidence } from '../../openshift/bootstrap/bootstrap-file.ts'
import type { PullFault } from '../pull/pull-failure.ts'

/** Who asks: the bootstrap host, or the machines of the cluster after it. */
export type Side = 'bootstrap' | 'nodes'

/** Why an image is wanted. */
export type ImageUse =
  /** The release itself. */
  | 'release'
  /** A script of the bootstrap host asks the release for it. */
  | 'script'
  /** A static pod of the bootstrap host runs it, on platforms that bring no load balancer. */
  | 'static-pod'
  /** A script, unit or quadlet names it itself. */
  | 'named'
  /** Only nodes run it. */
  | 'payload'

export interface ImageAttempt {
  readonly isPulled: boolean
  /** `HOST/REPOSITORY` that it came from, or that decided that it does not come. */
  readonly from?: string
  readonly isMirror?: boolean
  readonly fault?: PullFault
  /** As podman would say it. */
  readonly message?: string
}

export interface RehearsedImage {
  /** Of the component in the release; `release image`; of others the reference. */
  readonly name: string
  /** As it is asked for. */
  readonly reference: string
  readonly use: ImageUse
  /** True where whoever asks goes on without it. */
  readonly isOptional: boolean
  /** The lines of the config that ask for it. */
  readonly evidence: readonly Evidence[]
  readonly bootstrap?: ImageAttempt
  readonly nodes?: ImageAttempt
  /** As Go names it. */
  readonly architecture?: string
  /** Config and layers, compressed. */
  readonly sizeBytes?: number
  readonly blobs?: number
}

export interface ServerCertificate {
  readonly subject: string
  readonly issuer: string
  readonly names: readonly string[]
  /** ISO 8601, UTC. */
  readonly notBefore: string
  readonly notAfter: string
}

export interface RehearsedHost {
  /** `host` or `host:port`. */
  readonly host: string
  readonly sides: readonly Side[]
  readonly addresses: readonly string[]
  /** Of `/v2/`. */
  readonly status?: number
  readonly proxy?: string
  /** The server's clock minus the one here, in milliseconds. */
  readonly skewMs?: number
  readonly certificate?: ServerCertificate
  readonly fault?: PullFault
  readonly message?: string
}

export interface ResolvedName {
  readonly name: string
  readonly purpose: 'api' | 'api-int'
  readonly addresses: readonly string[]
}

/** Bytes of the images that the bootstrap host itself pulls, each blob once. */
export interface DiskNeed {
  readonly images: number
  readonly blobs: number
  /** As they travel. */
  readonly compressedBytes: number
  /** As they lie on the disk: an estimate. */
  readonly unpackedBytes: number
}

export interface MirrorEntry {
  readonly source: string
  readonly isBlocked: boolean
  readonly mirrors: readonly {
    readonly location: string
    readonly insecure: boolean
    readonly for: 'all' | 'digest-only' | 'tag-only'
  }[]
}

export interface MirrorReport {
  readonly bootstrap: readonly MirrorEntry[]
  /** Absent where the machine config operator refuses them. */
  readonly nodes?: readonly MirrorEntry[]
  readonly differences: readonly {
    readonly source: string
    readonly by: 'digest' | 'tag'
    readonly kind: string
    readonly bootstrap: readonly string[]
    readonly nodes: readonly string[]
  }[]
}

export interface ConfigCertificate {
  readonly subject: string
  readonly at: Evidence
  readonly place: string
  readonly isCa: boolean
  readonly isShortLived: boolean
  /** ISO 8601, UTC. */
  readonly notBefore: string
  readonly notAfter: string
}

export interface CheckedRelease {
  readonly version: string
  readonly architecture?: string
  readonly components: number
}

export interface LevelOneReport {
  /** Absent where the release image could not be read. */
  readonly release?: CheckedRelease
  readonly images: readonly RehearsedImage[]
  readonly hosts: readonly RehearsedHost[]
  readonly names: readonly ResolvedName[]
  readonly mirrors: MirrorReport
  /** Those of the config, the first to expire first. */
  readonly certificates: readonly ConfigCertificate[]
  /** The `.sig` tag beside the release image. */
  readonly signature?: { readonly tag: string; readonly isThere: boolean; readonly isRequired: boolean }
  readonly disk: DiskNeed
  readonly checked: {
    readonly files: number
    readonly units: number
    readonly scripts: number
    readonly manifests: number
  }
  /** What could not be looked at, and why. */
  readonly skipped: readonly string[]
  readonly findings: readonly Finding[]
  readonly durationMs: number
}
