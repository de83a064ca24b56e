import type { Digest } from './digest.ts'
import type { Platform } from './platform.ts'

/** What names a piece of content: its type, its digest and its size in bytes (OCI image-spec descriptor.md). */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: Digest
  readonly size: number
  readonly platform?: Platform
  readonly annotations?: Readonly<Record<string, string>>
  readonly artifactType?: string
  readonly urls?: readonly string[]
}
