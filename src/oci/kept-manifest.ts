import * as z from 'zod'
import type { RawManifest } from './content.ts'
import { digestOf } from './digest.ts'

/** A manifest in a file of ours: its bytes as text, from which its digest follows again. */
export const KeptManifest = z.object({ mediaType: z.string(), text: z.string() })
type KeptManifest = z.infer<typeof KeptManifest>

export function keptManifest({ descriptor: { mediaType }, bytes }: RawManifest): KeptManifest {
  return { mediaType, text: Buffer.from(bytes).toString('utf8') }
}

export function rawManifest({ mediaType, text }: KeptManifest): RawManifest {
  const bytes = Buffer.from(text)
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.byteLength }, bytes }
}
