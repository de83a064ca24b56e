/** Files that travel with the images, for people and for `--json`. */
import { redact } from '../../errors/redact.ts'
import type { CarriedFile } from '../../flows/carried-files.ts'
import { count, formatBytes } from './quantities.ts'

const states = {
  here: undefined,
  held: 'not carried: the target had it already',
  missing: 'MISSING: the volume that it lies in is not here, or is damaged',
  hole: 'MISSING: it was not to be had when the archive was made',
} as const

export function renderFiles(files: readonly CarriedFile[], place: string): string {
  if (files.length === 0) return `no files at ${place}\n`
  const sizes = files.reduce((sum, { size }) => sum + (size ?? 0), 0)
  const sorted = files.toSorted((a, b) => compare(a.name, b.name) || compare(a.tag, b.tag))
  const lines = [`${count(files.length, 'file')}, ${formatBytes(sizes)}, at ${place}`, ...sorted.flatMap(fileLines)]
  // What an archive or a registry says reaches a terminal here.
  return redact(`${lines.join('\n')}\n`)
}

function fileLines({ name, size, digest, repository, tag, place, url, why, state }: CarriedFile): string[] {
  const said = states[state]
  return [
    '',
    `${name}${size === undefined ? '' : `  ${formatBytes(size)}`}`,
    ...(said === undefined ? [] : [field('state', said)]),
    ...(digest === undefined ? [] : [field('digest', digest)]),
    field('image', `${repository}:${tag}`),
    field('in', place),
    ...(url === undefined ? [] : [field('from', url)]),
    // Of a file of the configuration it says no more than the URL.
    ...(why === undefined || (url !== undefined && why.endsWith(url)) ? [] : [field('why', why)]),
  ]
}

function field(name: string, text: string): string {
  return `  ${name.padEnd(7)} ${text}`
}

/** By code unit, so that the order does not depend on the locale of the machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

export function fileJson({ content: _, ...file }: CarriedFile): object {
  return file
}

export interface TakenFile {
  readonly file: CarriedFile
  readonly path: string
  readonly how: 'written' | 'present'
}

export function renderTaken(taken: readonly TakenFile[]): string {
  const lines = taken.map(({ file, path, how }) => {
    const size = file.size === undefined ? '' : `  ${formatBytes(file.size)}`
    const said = how === 'present' ? '  (was there already)' : ''
    return `${path}${size}  ${file.digest ?? ''}${said}`
  })
  return redact(`${lines.join('\n')}\n`)
}

export function takenJson({ file, path, how }: TakenFile): object {
  const { name, size, digest } = file
  return { name, path, size, digest, how }
}
