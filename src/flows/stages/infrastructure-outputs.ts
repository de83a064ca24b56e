/** What stage 01 of a lab gives to the others. Paths are of the machine that it ran on. */
import { z } from 'zod'

const addresses = z.array(z.string())

export const NetworkMade = z.strictObject({
  lab: z.string(),
  mode: z.enum(['namespaces', 'loopback']),
  addresses: z.strictObject({ connected: addresses, bastion: addresses, closed: addresses }),
  /** What this network does not do, each a sentence. */
  limits: z.array(z.string()),
})
export type NetworkMade = z.infer<typeof NetworkMade>
