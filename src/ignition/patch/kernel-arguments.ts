/** Which configs can have kernel arguments. */
import { type Finding, finding } from '../../errors/finding.ts'
import type { KernelArgumentsPatch } from './patch.ts'

/** Since specification 3.3.0 (coreos/ignition `docs/migrating-configs.md`, "Kernel arguments"). */
export function hasKernelArguments(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major === 3 && minor >= 3
}

/**
 * @param version of the config
 * @param isForNodes where machine configs are made of the same patch, which carry them
 */
export function judgeKernelArguments(
  { shouldExist, shouldNotExist }: KernelArgumentsPatch,
  version: string,
  { isForNodes }: { readonly isForNodes: boolean },
): readonly Finding[] {
  if (hasKernelArguments(version)) return []
  const said = [...shouldExist, ...shouldNotExist.map((one) => `not ${one}`)].join(' ')
  const reason = `Ignition ${version} has no kernelArguments, which came with 3.3.0; openshift-install writes 3.2.0 for every release up to now`
  if (isForNodes)
    return [
      finding({
        id: 'ignition.patch-kernel-arguments',
        severity: 'warning',
        summary: `kernelArguments (${said}) go into the machine configs only: ${reason}`,
        remedy:
          'Where the bootstrap host needs them too, give them on its kernel command line at boot: coreos-installer iso kargs modify, or the PXE menu.',
      }),
    ]
  return [
    finding({
      id: 'ignition.patch-kernel-arguments',
      severity: 'error',
      summary: `kernelArguments (${said}) cannot be written: ${reason}`,
      remedy:
        'For nodes make machine configs of the same patch: --machine-configs DIR. The bootstrap host gets them on its kernel command line: coreos-installer iso kargs modify, or the PXE menu.',
    }),
  ]
}
