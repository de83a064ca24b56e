/** Which rule belongs to which type, and by what entries of lists are told apart. */
import type { Resource } from '../config.ts'
import type { DecodedStruct } from './decode.ts'
import type { Place } from './place.ts'
import { checkDisk, checkPartition } from './rules-disks.ts'
import { checkDirectory, checkFile, checkNodePath, checkOwner } from './rules-files.ts'
import { checkDevice, checkFilesystem, checkFilesystemsOnDisks, checkRaid } from './rules-filesystems.ts'
import { checkChildren, checkProxy, checkTls } from './rules-ignition.ts'
import { checkClevisCustom, checkLuks, checkTang } from './rules-luks.ts'
import {
  checkCaReference,
  checkConfigReference,
  checkHeader,
  checkResource,
  checkVerification,
} from './rules-resource.ts'
import { checkNodes, checkPathsOfUnits } from './rules-storage.ts'
import { checkDropin, checkInstances, checkUnit } from './rules-systemd.ts'

/** A rule gets a value of the type that it stands beside. */
type Rule = (value: never, place: Place) => void

const rules: ReadonlyMap<string, readonly Rule[]> = new Map<string, readonly Rule[]>([
  ['types.Config', [checkPathsOfUnits]],
  ['types.IgnitionConfig', [checkChildren]],
  ['types.TLS', [checkTls]],
  ['types.Proxy', [checkProxy]],
  ['types.Resource', [checkResource]],
  ['types.FileContents', [checkResource]],
  ['types.ConfigReference', [checkConfigReference]],
  ['types.CaReference', [checkCaReference]],
  ['types.HTTPHeader', [checkHeader]],
  ['types.Verification', [checkVerification]],
  ['types.Storage', [checkNodes, checkFilesystemsOnDisks]],
  ['types.File', [checkFile]],
  ['types.Directory', [checkDirectory]],
  ['types.Link', [checkNodePath]],
  ['types.NodeUser', [checkOwner]],
  ['types.NodeGroup', [checkOwner]],
  ['types.Disk', [checkDisk]],
  ['types.Partition', [checkPartition]],
  ['types.Device', [checkDevice]],
  ['types.Raid', [checkRaid]],
  ['types.Filesystem', [checkFilesystem]],
  ['types.Luks', [checkLuks]],
  ['types.Custom', [checkClevisCustom]],
  ['types.ClevisCustom', [checkClevisCustom]],
  ['types.Tang', [checkTang]],
  ['types.Systemd', [checkInstances]],
  ['types.Unit', [checkUnit]],
  ['types.Dropin', [checkDropin]],
])

export function applyRules(goType: string, value: unknown, place: Place): void {
  // What is decoded as a type has its shape: the one place where that is taken on trust.
  for (const rule of rules.get(goType) ?? []) rule(value as never, place)
}

/** What may be in a list, or in a group of lists, only once (`Key()` of the types). */
export function keyOf(goType: string, value: unknown): string {
  if (typeof value === 'string') return value
  const entry = value as DecodedStruct
  switch (goType) {
    case 'types.Resource':
    case 'types.FileContents':
    case 'types.ConfigReference':
    case 'types.CaReference':
      return (entry as Resource).source ?? ''
    case 'types.File':
    case 'types.Directory':
    case 'types.Link':
      return text(entry['path'])
    case 'types.Disk':
    case 'types.Filesystem':
      return text(entry['device'])
    case 'types.Tang':
      return text(entry['url'])
    case 'types.Partition':
      return partitionKey(entry)
    default:
      return text(entry['name'])
  }
}

function partitionKey({ number, label }: DecodedStruct): string {
  if (number) return `number:${number}`
  return label === undefined ? '' : `label:${label}`
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
