/** How large a config may be that a platform gives to a machine. */

export interface PlatformLimit {
  readonly name: string
  /** Where the config goes. */
  readonly what: string
  readonly limitBytes: number
  /** True where the limit counts the base64 of the config, which has a third more bytes. */
  readonly isOfBase64: boolean
  /** True where Ignition decompresses a whole config that the platform gives it. */
  readonly hasWholeGzip: boolean
  /** False for a limit that is known by practice, or can be raised. */
  readonly isHard: boolean
  readonly source: string
}

const usual = { isOfBase64: false, hasWholeGzip: false, isHard: true }

/**
 * Only VMware's provider decompresses a whole config (coreos/ignition `internal/providers/vmware/vmware.go:decodeConfig`);
 * for the others Ignition reads what they give as it is.
 */
export const platformLimits: readonly PlatformLimit[] = [
  {
    ...usual,
    name: 'aws',
    what: 'UserData of an EC2 instance',
    limitBytes: 16 * 1024,
    source: 'EC2 User Guide, user data: 16 KB in raw form, before base64',
  },
  {
    ...usual,
    name: 'azure',
    what: 'osProfile.customData',
    limitBytes: 65_535,
    source: 'Azure Compute REST API, OSProfile.customData: at most 65535 bytes, decoded',
  },
  {
    ...usual,
    name: 'gcp',
    what: 'the metadata value user-data',
    limitBytes: 256 * 1024,
    source: 'Compute Engine API, Metadata.items[].value: at most 262144 bytes; all together 512 KB',
  },
  {
    ...usual,
    name: 'openstack',
    what: 'user_data of a server',
    limitBytes: 65_535,
    isOfBase64: true,
    source: 'Nova, “Provide user data to instances”: base64 of at most 65535 bytes',
  },
  {
    ...usual,
    name: 'vsphere',
    what: 'guestinfo.ignition.config.data',
    limitBytes: 64 * 1024,
    isOfBase64: true,
    hasWholeGzip: true,
    isHard: false,
    source:
      'open-vm-tools guest_msg_def.h, GUESTMSG_MAX_IN_SIZE, for what a guest asks for at once; the .vmx as a whole has 1 MiB (tools.setInfo.sizeLimit)',
  },
  {
    ...usual,
    name: 'nutanix',
    what: 'guest customization user_data',
    limitBytes: 32 * 1024,
    isHard: false,
    source: 'nutanix-cloud-native/cluster-api-provider-nutanix pull 408: AHV takes 32 KB',
  },
]

/** Bytes that count against the limit. */
export function storedBytes(sizeBytes: number, { isOfBase64 }: PlatformLimit): number {
  return isOfBase64 ? base64Bytes(sizeBytes) : sizeBytes
}

export function base64Bytes(sizeBytes: number): number {
  return 4 * Math.ceil(sizeBytes / 3)
}
