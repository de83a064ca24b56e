/** What stages 08 and 09 give to the others. */
import { z } from 'zod'

export const NodesUp = z.strictObject({ nodes: z.array(z.string()), images: z.number() })

export const Verified = z.strictObject({ report: z.string(), checked: z.number() })

export const PacketsCounted = z.strictObject({
  isProven: z.boolean(),
  left: z.number(),
  inside: z.number(),
  forwarded: z.number(),
  why: z.string().optional(),
})
