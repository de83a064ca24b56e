/** Fields of the storage section; the others are in `spec-fields.ts`. */
import { resourceType } from './spec-resource.ts'
import { type Fields, list, type StructType, scalar, struct, texts } from './spec-types.ts'

export function storageType(minor: number): StructType {
  const group = 'Node'
  const directory = struct('Directory', { ...nodeFields(), mode: scalar.optionalNumber })
  const link = struct('Link', {
    ...nodeFields(),
    hard: scalar.optionalFlag,
    target: minor < 3 ? scalar.text : scalar.optionalText,
  })
  return struct('Storage', {
    directories: list(directory, { group }),
    disks: list(diskType(minor)),
    files: list(fileType(minor), { group }),
    filesystems: list(filesystemType(minor)),
    links: list(link, { group }),
    ...(minor >= 2 && { luks: list(luksType(minor)) }),
    raid: list(raidType(minor)),
  })
}

function nodeFields(): Fields {
  const owner = { id: scalar.optionalNumber, name: scalar.optionalText }
  return {
    group: struct('NodeGroup', owner),
    overwrite: scalar.optionalFlag,
    path: scalar.text,
    user: struct('NodeUser', owner),
  }
}

function fileType(minor: number): StructType {
  const resource = resourceType(minor)
  return struct('File', {
    ...nodeFields(),
    append: list(resource, { mayRepeat: true }),
    contents: resource,
    mode: scalar.optionalNumber,
  })
}

function diskType(minor: number): StructType {
  const partition = struct('Partition', {
    guid: scalar.optionalText,
    label: scalar.optionalText,
    number: scalar.number,
    ...(minor >= 2 && { resize: scalar.optionalFlag }),
    shouldExist: scalar.optionalFlag,
    sizeMiB: scalar.optionalNumber,
    startMiB: scalar.optionalNumber,
    typeGuid: scalar.optionalText,
    wipePartitionEntry: scalar.optionalFlag,
  })
  return struct('Disk', { device: scalar.text, partitions: list(partition), wipeTable: scalar.optionalFlag })
}

function filesystemType(minor: number): StructType {
  return struct('Filesystem', {
    device: scalar.text,
    format: scalar.optionalText,
    label: scalar.optionalText,
    ...(minor >= 1 && { mountOptions: texts('MountOption', { mayRepeat: true }) }),
    options: texts('FilesystemOption', { mayRepeat: true }),
    path: scalar.optionalText,
    uuid: scalar.optionalText,
    wipeFilesystem: scalar.optionalFlag,
  })
}

function raidType(minor: number): StructType {
  return struct('Raid', {
    devices: texts('Device'),
    level: minor < 3 ? scalar.text : scalar.optionalText,
    name: scalar.text,
    options: texts('RaidOption', { mayRepeat: true }),
    spares: scalar.optionalNumber,
  })
}

function luksType(minor: number): StructType {
  return struct('Luks', {
    ...(minor >= 5 && { cex: struct('Cex', { enabled: scalar.optionalFlag }) }),
    clevis: clevisType(minor),
    device: scalar.optionalText,
    ...(minor >= 4 && { discard: scalar.optionalFlag }),
    keyFile: resourceType(minor),
    label: scalar.optionalText,
    name: scalar.text,
    ...(minor >= 4 && { openOptions: texts('OpenOption') }),
    options: texts('LuksOption', { mayRepeat: true }),
    uuid: scalar.optionalText,
    wipeVolume: scalar.optionalFlag,
  })
}

function clevisType(minor: number): StructType {
  const isPointer = minor < 3
  const text = isPointer ? scalar.text : scalar.optionalText
  const custom = struct(
    isPointer ? 'Custom' : 'ClevisCustom',
    { config: text, needsNetwork: scalar.optionalFlag, pin: text },
    { isPointer },
  )
  const tang = struct('Tang', {
    ...(minor >= 4 && { advertisement: scalar.optionalText }),
    thumbprint: scalar.optionalText,
    url: scalar.text,
  })
  const fields = {
    custom,
    tang: list(tang),
    threshold: scalar.optionalNumber,
    tpm2: scalar.optionalFlag,
  }
  return struct('Clevis', fields, { isPointer })
}
