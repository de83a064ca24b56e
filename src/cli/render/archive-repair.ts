/** What mending the archives of a directory did, for people and for programs. */
import type { DirectoryRepair } from '../../flows/repair-directory.ts'
import { count, formatBytes } from './quantities.ts'

export function isWhole({ verification }: DirectoryRepair): boolean {
  return verification?.archive !== undefined && verification.damage.ranges.length === 0
}

export function renderDirectoryRepair(directory: string, repair: DirectoryRepair): string {
  const { stem, parity, mended, renewedParity } = repair
  const done = [
    ...(parity?.volumes ?? []).flatMap(({ file, wasMissing, rebuiltBytes, lostBytes }) => [
      ...(rebuiltBytes > 0 ? [`${made(file, wasMissing)} from parity, ${formatBytes(rebuiltBytes)}`] : []),
      ...(lostBytes > 0 ? [`${file}: parity is not enough for ${formatBytes(lostBytes)}`] : []),
    ]),
    ...(mended?.volumes ?? []).map(({ file, wasMissing, writtenBytes }) => {
      return `${made(file, wasMissing)} from its index and repairs, ${formatBytes(writtenBytes)}`
    }),
    ...renewedParity.map((file) => `${file}: made again`),
    ...(mended?.isEndRenewed ? ['the end record is made anew: a signature in it, if there was one, is gone'] : []),
  ]
  const verdict = isWhole(repair)
    ? `whole: ${stem}${done.length > 0 ? ': every byte is as it was written again' : ': nothing to repair'}\n`
    : `damaged: ${stem}: ${stillMissing(repair)}\n`
  return `${verdict}${done.map((line) => `  ${line}\n`).join('')}${isWhole(repair) ? '' : advice(directory, repair)}`
}

function made(file: string, wasMissing: boolean): string {
  return `${file}: ${wasMissing ? 'made again' : 'mended'}`
}

function stillMissing({ verification }: DirectoryRepair): string {
  if (!verification?.archive) return 'its index cannot be read'
  const { damage } = verification
  if (damage.ranges.some(({ kind }) => kind === 'foreign'))
    return 'a volume of another archive has the name of one of it'
  return damage.blobs.length > 0
    ? `${count(damage.blobs.length, 'blob')} still missing`
    : `${count(damage.ranges.length, 'place')} cannot be put right`
}

function advice(directory: string, { parity, verification }: DirectoryRepair): string {
  if (verification?.damage.ranges.some(({ kind }) => kind === 'foreign')) {
    return 'next: move that volume to another directory, and run this again\n'
  }
  const without = parity === undefined ? 'There is no parity that can be used. ' : ''
  return `next: ${without}sallyport archive verify ${directory} --repair-list FILE writes what has to be carried again\n`
}

export function directoryRepairJson(repair: DirectoryRepair): object {
  const { stem, parity, mended, renewedParity, verification } = repair
  return { stem, isWhole: isWhole(repair), parity, mended, renewedParity, damage: verification?.damage }
}
