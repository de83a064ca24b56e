/** Rules for disks and partitions (coreos/ignition `config/v3_N/types/{disk,partition}.go`). */
import type { Disk, Partition } from '../config.ts'
import { messages } from './messages.ts'
import { pathFault } from './path-rule.ts'
import type { Place } from './place.ts'

export function checkDisk({ device, partitions = [] }: Disk, place: Place): void {
  if (device === '') {
    place.error(messages.deviceRequired, 'device')
    return
  }
  place.error(pathFault(device), 'device')
  const collision = secondOfANumber(partitions)
  if (collision !== undefined) place.error(messages.partitionNumbers, 'partitions', collision)
  const overlap = firstOverlapped(partitions)
  if (overlap !== undefined) place.error(messages.partitionsOverlap, 'partitions', overlap)
  const repeated = firstRepeatedLabel(partitions)
  if (repeated !== undefined) place.error(messages.partitionLabels, 'partitions', repeated)
}

/** 0 is the next number that is free, and may be there several times. */
function secondOfANumber(partitions: readonly Partition[]): number | undefined {
  const seen = new Set<number>()
  for (const [index, { number = 0 }] of partitions.entries()) {
    if (number !== 0 && seen.has(number)) return index
    seen.add(number)
  }
  return undefined
}

function firstRepeatedLabel(partitions: readonly Partition[]): number | undefined {
  const seen = new Set<string>()
  for (const [index, { label }] of partitions.entries()) {
    if (typeof label !== 'string') continue
    if (seen.has(label)) return index
    seen.add(label)
  }
  return undefined
}

interface Extent {
  readonly index: number
  readonly start: number
  readonly end: number
}

/** In MiB. Partitions without a start are placed by sgdisk, where nobody knows yet. */
function extentsOf(partitions: readonly Partition[]): readonly Extent[] {
  return partitions.flatMap(({ startMiB, sizeMiB }, index) => {
    if (!startMiB || typeof sizeMiB !== 'number') return []
    return [{ index, start: startMiB, end: sizeMiB === 0 ? startMiB : startMiB + sizeMiB - 1 }]
  })
}

function firstOverlapped(partitions: readonly Partition[]): number | undefined {
  const extents = extentsOf(partitions)
  for (const one of extents) {
    const other = extents.find((extent) => extent !== one && isOverlapping(one, extent))
    if (other) return other.index
  }
  return undefined
}

function isOverlapping(one: Extent, other: Extent): boolean {
  const isWithin = (place: number) => place >= other.start && place <= other.end
  return isWithin(one.start) || isWithin(one.end) || (one.start < other.start && one.end > other.end)
}

const guidPattern = /^(?:|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$/

export function checkPartition(partition: Partition, place: Place): void {
  const { number, label, guid, typeGuid, startMiB, sizeMiB, shouldExist } = partition
  const isDescribed = label !== undefined || guid || typeGuid || startMiB !== undefined || sizeMiB !== undefined
  if (shouldExist === false && isDescribed) place.error(messages.partitionAbsentWithOthers)
  if (!number && label === undefined) place.error(messages.labelOrNumber)
  place.error(partitionLabelFault(label ?? ''), 'label')
  if (typeof guid === 'string' && !guidPattern.test(guid)) place.error(messages.invalidGuid, 'guid')
  if (typeof typeGuid === 'string' && !guidPattern.test(typeGuid)) place.error(messages.invalidGuid, 'typeGuid')
}

function partitionLabelFault(label: string): string | undefined {
  if (Buffer.byteLength(label) > 36) return messages.partitionLabelLength
  return label.includes(':') ? messages.partitionLabelColon : undefined
}
