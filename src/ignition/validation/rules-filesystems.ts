/** Rules for arrays and filesystems (coreos/ignition `config/v3_N/types/{raid,device,filesystem,storage}.go`). */
import type { Filesystem, Raid, Storage } from '../config.ts'
import { messages } from './messages.ts'
import { pathFault } from './path-rule.ts'
import type { Place } from './place.ts'

export function checkFilesystemsOnDisks({ disks = [], filesystems = [] }: Storage, place: Place): void {
  const byDevice = new Map(disks.map((disk) => [disk.device, disk]))
  for (const [index, { device, wipeFilesystem }] of filesystems.entries()) {
    const disk = byDevice.get(device)
    if (!disk) continue
    if ((disk.partitions ?? []).length > 0)
      place.warning(messages.filesystemOnPartitions, 'filesystems', index, 'device')
    else if (disk.wipeTable === true && wipeFilesystem !== true)
      place.warning(messages.filesystemImplicitWipe, 'filesystems', index, 'device')
  }
}

export function checkDevice(device: string, place: Place): void {
  place.error(pathFault(device))
}

export function checkRaid(raid: Raid, place: Place): void {
  place.error(raidLevelFault(raid, place.minor), 'level')
  if ((raid.devices ?? []).length === 0) place.error(messages.raidDevices, 'devices')
}

function raidLevelFault({ level, spares }: Raid, minor: number): string | undefined {
  if (!level && minor >= 3) return messages.raidLevelRequired
  if (/^(?:linear|raid0|0|stripe)$/.test(level ?? '')) return spares ? messages.raidSpares : undefined
  return /^(?:(?:raid)?(?:1|4|5|6|10)|mirror)$/.test(level ?? '') ? undefined : messages.raidLevel
}

export function checkFilesystem(filesystem: Filesystem, place: Place): void {
  const { path, format, uuid, wipeFilesystem, options = [] } = filesystem
  if (path) place.error(pathFault(path), 'path')
  place.error(deviceFault(filesystem, place.minor), 'device')
  place.error(formatFault(filesystem, place.minor), 'format')
  place.error(labelFault(filesystem, place.minor), 'label')
  if (place.minor < 7 || format !== 'virtiofs') return
  if (uuid) place.error(messages.virtiofsUuid, 'uuid')
  if (wipeFilesystem === true) place.error(messages.virtiofsWipe, 'wipeFilesystem')
  if (options.length > 0) place.error(messages.virtiofsOptions, 'options')
}

/** virtiofs has a tag where others have a device. */
function deviceFault({ device, format }: Filesystem, minor: number): string | undefined {
  if (minor < 7 || format !== 'virtiofs') return pathFault(device)
  if (device === '') return messages.noDevice
  return Buffer.byteLength(device) > 36 ? messages.virtiofsTag : undefined
}

const firstVersionOfFormat: ReadonlyMap<string, number> = new Map([
  ['ext4', 0],
  ['btrfs', 0],
  ['xfs', 0],
  ['swap', 0],
  ['vfat', 0],
  ['none', 3],
  ['virtiofs', 7],
])

function formatFault(filesystem: Filesystem, minor: number): string | undefined {
  const { format, path, label, uuid, wipeFilesystem, mountOptions = [], options = [] } = filesystem
  if (format) return minor >= (firstVersionOfFormat.get(format) ?? 99) ? undefined : messages.filesystemFormat
  const isDescribed = path || label || uuid || wipeFilesystem === true || mountOptions.length > 0 || options.length > 0
  return isDescribed ? messages.formatRequired : undefined
}

const maxLabelBytes: ReadonlyMap<string, number> = new Map([
  ['ext4', 16],
  ['btrfs', 256],
  ['xfs', 12],
  ['swap', 15],
  ['vfat', 11],
])

function labelFault({ label, format }: Filesystem, minor: number): string | undefined {
  if (!label) return undefined
  if (!format) return messages.labelNeedsFormat
  if (minor >= 7 && format === 'virtiofs') return messages.virtiofsLabel
  const most = maxLabelBytes.get(format)
  if (most === undefined || Buffer.byteLength(label) <= most) return undefined
  return `filesystem labels cannot be longer than ${most} characters when using ${format}`
}
