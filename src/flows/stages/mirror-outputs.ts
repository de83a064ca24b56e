/** What stage 06 gives to the others. All are places. */
import { z } from 'zod'

/** The checksum is that of the last archive: another one has to be loaded. */
export const Collected = z.strictObject({ archive: z.string(), checksum: z.string().optional() })

export const Loaded = z.strictObject({
  workspace: z.string(),
  clusterResources: z.string(),
  /** As a node of the cluster will have it. */
  registriesConf: z.string(),
})
