/** What stage 07 gives to the others. */
import { z } from 'zod'

export const ConfigRendered = z.strictObject({ file: z.string() })

export const BootstrapMade = z.strictObject({ file: z.string() })

export const Rehearsed = z.strictObject({ report: z.string(), images: z.number(), notes: z.number() })
