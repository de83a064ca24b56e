/** Manifests and configs out of a `ContentSource`, proven and parsed. */
import type * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource, RawManifest } from './content.ts'
import type { Descriptor } from './descriptor.ts'
import { type Manifest, maxManifestBytes, parseManifest } from './manifest.ts'
import { formatReference, type Reference } from './reference.ts'
import { verified } from './verified.ts'

export interface ReadFrom {
  readonly source: Pick<ContentSource, 'fetchManifest' | 'fetchBlob'>
  readonly signal?: AbortSignal | undefined
}

export interface ReadManifest {
  readonly raw: RawManifest
  readonly manifest: Manifest
}

/** @throws KnownError MANIFEST_UNKNOWN, MANIFEST_INVALID and the REGISTRY_ codes */
export async function readManifest(reference: Reference, { source, signal }: ReadFrom): Promise<ReadManifest> {
  const name = formatReference(reference)
  const raw = await source.fetchManifest(reference, signal)
  if (!raw) throw unknownManifest(name)
  return { raw, manifest: parseManifest(raw.bytes, raw.descriptor.mediaType, name) }
}

/** For an image, by name, that a source does not have. */
export function unknownManifest(image: string): KnownError {
  return new KnownError('MANIFEST_UNKNOWN', `${image}: there is no such image at its source`, { details: { image } })
}

export interface ConfigToRead<Config> extends ReadFrom {
  /** Where the config is. */
  readonly reference: Reference
  readonly schema: z.ZodType<Config>
  /** The error for a config that is none. */
  readonly invalid: (why: string, cause?: unknown) => KnownError
}

/** The config of an image (OCI image-spec config.md). @throws KnownError what `invalid` gives, BLOB_ and REGISTRY_ codes */
export async function readImageConfig<Config>(config: Descriptor, read: ConfigToRead<Config>): Promise<Config> {
  const { source, signal, reference, schema, invalid } = read
  if (config.size > maxManifestBytes) throw invalid(`its config has ${config.size} bytes`)
  const fetched = source.fetchBlob(reference, config, signal ? { signal } : {})
  const chunks = await Array.fromAsync(verified(fetched, config, `${formatReference(reference)}: config`))
  let document: unknown
  try {
    document = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw invalid('its config is not JSON', cause)
  }
  const result = schema.safeParse(document)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalid(`config: ${issue?.path.join('.')}: ${issue?.message}`)
}
