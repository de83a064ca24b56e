import * as z from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { type ReadFrom, readImageConfig } from '../../oci/read-image.ts'
import type { Reference } from '../../oci/reference.ts'

const ImageConfig = z.object({
  architecture: z.string().optional(),
  config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
})

interface ConfigPlace {
  readonly reference: Reference
  readonly config: Descriptor
  readonly signal: AbortSignal
}

/** What a pull needs to know of an image's config (OCI image-spec config.md). @throws KnownError BLOB_ and REGISTRY_ codes */
export async function parseImageConfig(source: ReadFrom['source'], { reference, config, signal }: ConfigPlace) {
  const invalid = (why: string, cause?: unknown) =>
    new KnownError('MANIFEST_INVALID', `parsing image configuration: ${why}`, { cause })
  const read = await readImageConfig(config, { source, signal, reference, schema: ImageConfig, invalid })
  return { architecture: read.architecture, labels: read.config?.Labels ?? {} }
}
