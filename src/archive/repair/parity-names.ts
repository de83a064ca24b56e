/** Names of parity volumes. They are not volumes of the archive: `parseVolumeName` does not take them. */
import { readdir } from 'node:fs/promises'
import { parseVolumeName } from '../format/volume-names.ts'

/** @param number from 1, over all groups */
export function parityName(stem: string, number: number): string {
  return `${stem}-parity-${String(number).padStart(2, '0')}.tar`
}

/** Names of the volumes and parity volumes of one archive in a directory, each in the order of their numbers. */
export async function archiveFiles(
  directory: string,
  stem: string,
): Promise<{ readonly volumes: ReadonlyMap<number, string>; readonly parity: readonly string[] }> {
  const files = (await readdir(directory)).sort()
  const volumes = files.flatMap((file): [number, string][] => {
    const name = parseVolumeName(file)
    return name?.stem === stem ? [[name.volume, file]] : []
  })
  const isParity = (file: string) => file.startsWith(`${stem}-parity-`) && /-parity-\d{2,9}\.tar$/.test(file)
  return { volumes: new Map(volumes.sort(([a], [b]) => a - b)), parity: files.filter(isParity) }
}
