import type { LiteralStep, StepCredential } from '../step-registry/model.ts'
import type { RegistryRunOptions } from './run-options.ts'

export interface CredentialMount {
  readonly name: string
  /** On this machine. */
  readonly from: string
  /** Where the script looks for it. */
  readonly to: string
}

/**
 * What a step mounts, and from where. Without a container nothing can be mounted: it is then the place that the step names,
 * on this machine.
 */
export function credentialMounts(
  { credentials = [] }: LiteralStep,
  options: RegistryRunOptions,
): readonly CredentialMount[] {
  return credentials.flatMap((credential) => {
    const { mount_path: to } = credential
    if (to === undefined) return []
    const name = credentialName(credential)
    const given = options.credentials?.[name] ?? options.credentials?.[name.slice(name.indexOf('/') + 1)]
    const from = options.container ? given : to
    return from === undefined ? [] : [{ name, from, to }]
  })
}

/** `NAMESPACE/NAME`, or what it is called in a secret manager. */
export function credentialName({ namespace, name, bundle, collection, group, field }: StepCredential): string {
  if (name !== undefined) return namespace === undefined ? name : `${namespace}/${name}`
  return bundle ?? [collection, group, field].filter((part) => part !== undefined).join('/')
}
