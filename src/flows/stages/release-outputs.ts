/** Which release is installed, and how the connected side reads it. */
import { z } from 'zod'

/** The outside that a lab has made. */
const Outside = z.strictObject({
  ca: z.string(),
  /** registries.conf of the connected side; leads to the registry where its name is not known. */
  registriesConf: z.string(),
  signatures: z.string(),
  releaseKey: z.string(),
})

export const ReleaseKnown = z.strictObject({
  /** By digest. */
  release: z.string(),
  version: z.string(),
  /** Place of the ImageSetConfiguration; absent where nothing is mirrored. */
  imageSet: z.string().optional(),
  /** Only of a lab. */
  outside: Outside.optional(),
  /** Name of the secret to read it with. Not its value: another password is no other release. */
  pullSecret: z.string().optional(),
})
export type ReleaseKnown = z.infer<typeof ReleaseKnown>
