/** What stage 06 gives to the others. */
import { z } from 'zod'

export const Collected = z.strictObject({ archive: z.string(), digest: z.string().optional() })

export const Loaded = z.strictObject({
  workspace: z.string(),
  clusterResources: z.string(),
  registriesConf: z.string(),
})
