/** Files that look like an archive from outside: right first and last records, anything between. For what does not read the index. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fixedJson, formatName, formatVersion, sizes } from '../src/archive/format/format.ts'
import { archiveStem, volumeName } from '../src/archive/format/volume-names.ts'
import { digestOf } from '../src/oci/digest.ts'
import { randomBytes } from './random-bytes.ts'

export interface ShamArchive {
  readonly stem: string
  /** Names of the files. */
  readonly volumes: readonly string[]
}

/** @param volumeSizes in bytes, of each volume */
export async function writeShamArchive(
  directory: string,
  volumeSizes: readonly number[],
  seed = 'sham',
): Promise<ShamArchive> {
  const stem = archiveStem(1)
  const common = { format: formatName, version: formatVersion, id: digestOf(seed), sequence: 1 }
  const volumes: string[] = []
  for (const [index, size] of volumeSizes.entries()) {
    const bytes = Buffer.from(randomBytes(`${seed} ${index}`, size))
    fixedJson({ ...common, volume: index + 1, previous: null }, sizes.volumeRecord).copy(bytes, sizes.tarBlock)
    const end = { ...common, volumes: volumeSizes.length, checksum: '0'.repeat(64), holes: 0 }
    const isLast = index === volumeSizes.length - 1
    if (isLast) fixedJson(end, sizes.endRecord).copy(bytes, size - sizes.tarEnd - sizes.endRecord)
    const name = volumeName(stem, index + 1)
    await writeFile(join(directory, name), bytes)
    volumes.push(name)
  }
  return { stem, volumes }
}
