/** What of an install-config decides which manifests a cluster gets (openshift/installer `pkg/types/installconfig.go`). */
import { parse } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'

export interface ClusterRequest {
  /** As install-config names it: `aws`, `vsphere`, `none`, … */
  readonly platform: string
  /** Empty for the usual one. */
  readonly featureSet: string
  readonly capabilities?: {
    readonly baselineCapabilitySet?: string | undefined
    readonly additionalEnabledCapabilities?: readonly string[] | undefined
  }
  /** `Manual` where credentials are made by hand from CredentialsRequests. */
  readonly credentialsMode?: string
}

const InstallConfig = z.object({
  apiVersion: z.literal('v1'),
  platform: z.record(z.string(), z.unknown()),
  featureSet: z.string().nullish(),
  credentialsMode: z.string().nullish(),
  capabilities: z
    .object({
      baselineCapabilitySet: z.string().optional(),
      additionalEnabledCapabilities: z.array(z.string()).optional(),
    })
    .nullish(),
})

/** @throws KnownError CONFIG_INVALID */
export function parseInstallConfig(text: string, file: string): ClusterRequest {
  const { platform, featureSet, credentialsMode, capabilities } = checked(documentOf(text, file), file)
  const [name, ...others] = Object.keys(platform)
  if (name === undefined || others.length > 0) {
    throw invalid(
      file,
      `platform names ${name === undefined ? 'nothing' : Object.keys(platform).join(' and ')}, and not one`,
    )
  }
  return {
    platform: name,
    featureSet: featureSet ?? '',
    ...(capabilities && { capabilities }),
    ...(credentialsMode && { credentialsMode }),
  }
}

function documentOf(text: string, file: string): unknown {
  try {
    return parse(text, { logLevel: 'error', prettyErrors: false })
  } catch (cause) {
    throw invalid(file, cause instanceof Error ? cause.message : 'it is no YAML', cause)
  }
}

function checked(document: unknown, file: string): z.infer<typeof InstallConfig> {
  const result = InstallConfig.safeParse(document)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalid(file, `${issue?.path.join('.') || 'the document'}: ${issue?.message}`)
}

function invalid(file: string, why: string, cause?: unknown): KnownError {
  return new KnownError('CONFIG_INVALID', `${file} is no install-config: ${why}`, { details: { file }, cause })
}
