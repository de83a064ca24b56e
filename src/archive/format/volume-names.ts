/** Names of the files of an archive. */

export interface VolumeName {
  /** `sallyport-v1-000003`, or `sallyport-v1-000003-repair-1f0c…` */
  readonly stem: string
  readonly sequence: number
  /** From 1. */
  readonly volume: number
}

/** @param part tells apart what has the same sequence: a repair of it */
export function archiveStem(sequence: number, part?: string): string {
  return [`sallyport-v1-${String(sequence).padStart(6, '0')}`, part].filter(Boolean).join('-')
}

export function volumeName(stem: string, volume: number): string {
  return `${stem}-${String(volume).padStart(4, '0')}.tar`
}

/** A volume that is being written. */
export const partialSuffix = '.partial'

/** What is written of an unfinished archive, beside it. */
export function progressName(stem: string): string {
  return `${stem}.progress`
}

/** Undefined for a file that is no volume of this format: `.partial` is not one, nor is a parity volume. */
export function parseVolumeName(file: string): VolumeName | undefined {
  const match = /^(sallyport-v1-(\d{6,15})(?:-repair-[0-9a-f]{8})?)-(\d{4,9})\.tar$/.exec(file)
  const [, stem = '', sequence = '', volume = ''] = match ?? []
  return match ? { stem, sequence: Number(sequence), volume: Number(volume) } : undefined
}
