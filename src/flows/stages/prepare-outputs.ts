/** What stage 07 gives to the others. All are places. */
import { z } from 'zod'

export const ConfigRendered = z.strictObject({ file: z.string() })

export const InstallerTaken = z.strictObject({
  program: z.string(),
  /** What it installs. */
  image: z.string(),
  /** False where it has to be told what it installs: it has no place for that. */
  isTold: z.boolean(),
})

export const BootstrapMade = z.strictObject({
  /** bootstrap.ign */
  file: z.string(),
  /** Directory of all that the installer has made; absent where there was none. */
  assets: z.string().optional(),
})
export type BootstrapMade = z.infer<typeof BootstrapMade>

export const Rehearsed = z.strictObject({ report: z.string(), images: z.number(), notes: z.number() })
