/**
 * MachineConfigs of the changes that a patch makes to a bootstrap config, so that bootstrap host and nodes have the same.
 *
 * Sources: openshift/api `machineconfiguration/v1/types.go` (MachineConfig); openshift/machine-config-operator
 * `pkg/daemon/on_disk_validation.go` (files and units are compared with the disk; nothing may be appended).
 */
import { stringify } from 'yaml'
import { type Finding, finding } from '../errors/finding.ts'
import { newFileEntry } from '../ignition/patch/file-entry.ts'
import type { PatchChanges, PatchedFile, PatchPart } from '../ignition/patch/patch.ts'

export interface MachineConfigFile {
  /** For the directory `openshift/` beside the manifests of the installer. */
  readonly fileName: string
  readonly yaml: string
}

export interface MachineConfigRequest {
  readonly name: string
  /** `master`, `worker`, or machine config pools of one's own. */
  readonly roles: readonly string[]
}

/** What the installer itself writes for nodes; the operator takes it in every version since 4.6. */
const ignitionVersion = '3.2.0'

/** The same changes give the same bytes. None where nothing of the changes is for nodes. */
export function renderMachineConfigs(
  changes: PatchChanges,
  { name, roles }: MachineConfigRequest,
): MachineConfigFile[] {
  const spec = specOf(changes)
  if (spec === undefined) return []
  return roles.map((role) => {
    const resource = `99-${role}-sallyport-${name}`
    const document = {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      metadata: { labels: { 'machineconfiguration.openshift.io/role': role }, name: resource },
      spec,
    }
    return { fileName: `${resource}.yaml`, yaml: stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }) }
  })
}

function specOf({ files, units, kernelArguments }: PatchChanges): object | undefined {
  const onNodes = files.filter(isForNodes)
  const added = kernelArguments?.shouldExist ?? []
  if (onNodes.length + units.length + added.length === 0) return undefined
  return {
    config: {
      ignition: { version: ignitionVersion },
      ...(onNodes.length > 0 && { storage: { files: onNodes.map(newFileEntry) } }),
      ...(units.length > 0 && { systemd: { units: units.map(unitOf) } }),
    },
    ...(added.length > 0 && { kernelArguments: added }),
  }
}

function isForNodes({ part }: PatchedFile): boolean {
  return part !== 'proxy'
}

function unitOf({ dropins, ...unit }: PatchChanges['units'][number]): object {
  return { ...unit, ...(dropins.length > 0 && { dropins }) }
}

/** What of the changes is not for nodes, or is better said in another way there. */
export function judgeForNodes({ files, kernelArguments }: PatchChanges): readonly Finding[] {
  const parts = new Set(files.map(({ part }) => part))
  const removed = kernelArguments?.shouldNotExist ?? []
  return [
    ...advice.flatMap(({ part, ...said }) => (parts.has(part) ? [finding(said)] : [])),
    ...(removed.length === 0
      ? []
      : [
          finding({
            id: 'machine-config.kernel-arguments-removed',
            severity: 'warning',
            summary: `a MachineConfig cannot take kernel arguments away: ${removed.join(' ')}`,
            remedy: 'Where an argument is set by another MachineConfig, take it out there.',
          }),
        ]),
  ]
}

/** Trust: openshift/installer `pkg/asset/manifests/additionaltrustbundleconfig.go`; hosts: see `evidence`. */
const advice: readonly (Finding & { readonly part: PatchPart })[] = [
  {
    part: 'trust',
    id: 'machine-config.trust',
    severity: 'info',
    summary:
      'trusted certificates in a MachineConfig are for the node itself; pods, the proxy and operators do not see them',
    remedy:
      'Put the CA into additionalTrustBundle of install-config.yaml as well (additionalTrustBundlePolicy: Always), or, for registries alone, into the ConfigMap that image.config.openshift.io/cluster names in additionalTrustedCA.',
  },
  {
    part: 'hosts',
    id: 'machine-config.hosts',
    severity: 'warning',
    summary:
      '/etc/hosts in a MachineConfig: where the image registry of the cluster runs, the DNS operator adds its name to /etc/hosts of every node, and the machine config daemon then reports the node as degraded (content mismatch for file "/etc/hosts")',
    evidence:
      'openshift/cluster-dns-operator assets/node-resolver/update-node-resolver.sh; openshift/machine-config-operator pkg/daemon/on_disk_validation.go',
    remedy:
      'Give the mirror a name in DNS, and leave hosts out for nodes: a patch of its own for them. Or keep the image registry Removed.',
  },
  {
    part: 'registries',
    id: 'machine-config.registries',
    severity: 'warning',
    summary:
      'a drop-in of registries.conf wins over what the cluster itself knows of mirrors: oc, operators and updates read ImageDigestMirrorSet and ImageTagMirrorSet, and not this file',
    remedy:
      'For nodes write mirror sets instead, as sallyport mirror does (cluster-resources/), and leave registries out for them.',
  },
  {
    part: 'proxy',
    id: 'machine-config.proxy',
    severity: 'info',
    summary: 'proxies are left out of the MachineConfigs: nodes get them from the Proxy of the cluster',
    remedy: 'Set proxy in install-config.yaml.',
  },
]
