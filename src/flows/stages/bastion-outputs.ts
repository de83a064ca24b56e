/** What stages 02 to 05 give to the others. */
import { z } from 'zod'

const SecretName = z.strictObject({ secret: z.string() })

export const HostMade = z.strictObject({
  proxyUrl: z.string().optional(),
  username: z.string().optional(),
  password: z.union([z.string(), SecretName]).optional(),
  accessLog: z.string().optional(),
  why: z.string().optional(),
})
export type HostMade = z.infer<typeof HostMade>

export const CredentialsMade = z.strictObject({
  /** Of the mirror alone, as podman login writes it. */
  authFile: z.string(),
  /** Of the account that was made. */
  password: z.union([z.string(), SecretName]).optional(),
})
export type CredentialsMade = z.infer<typeof CredentialsMade>

export const ToolsMade = z.strictObject({ directory: z.string(), tools: z.array(z.string()) })

export const MirrorMade = z.strictObject({
  /** `HOST:PORT`, as the nodes name it. */
  registry: z.string(),
  /** `HOST:PORT/PATH` */
  target: z.string(),
  /** `HOST:PORT` by which this machine comes to it, where its name leads nowhere: all of a lab on 127.0.0.1. */
  reached: z.string().optional(),
  /** Place of the PEM file that its certificate is from; absent where the machine trusts it anyway. */
  ca: z.string().optional(),
})
export type MirrorMade = z.infer<typeof MirrorMade>
