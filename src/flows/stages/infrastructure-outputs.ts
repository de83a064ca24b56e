/** What stage 01 gives to the others. Paths are of the machine that it ran on. */
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

export const UpstreamMade = z.strictObject({
  /** By digest. */
  release: z.string(),
  version: z.string(),
  imageSet: z.string(),
  ca: z.string(),
  /** registries.conf of the connected side; leads to the registry where its name is not known. */
  registriesConf: z.string(),
  signatures: z.string(),
  releaseKey: z.string(),
})
export type UpstreamMade = z.infer<typeof UpstreamMade>
