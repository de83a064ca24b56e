/** Files that came over as artifacts, wherever they are now, and how one of them is told from the others. */
import { nearest } from '../config/nearest.ts'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { isTag, type Reference } from '../oci/reference.ts'

/**
 * `here`: its bytes can be had. `held`: it was left out of the archive, because the target has it. `missing`: a volume with
 * it is not there. `hole`: it was not to be had when the archive was made.
 */
export type FileState = 'here' | 'held' | 'missing' | 'hole'

export interface CarriedFile {
  /** A plain file name; of a file whose artifact is not here, the last part of its repository. */
  readonly name: string
  readonly state: FileState
  /** Below the target. */
  readonly repository: string
  readonly tag: string
  /** For people: the archive, or the image. */
  readonly place: string
  /** In bytes. */
  readonly size?: number
  readonly digest?: Digest
  /** Where it was fetched from. */
  readonly url?: string
  /** What asked for it, as the archive says. */
  readonly why?: string
  /** Where its bytes are; present for what is `here`. */
  readonly content?: FileContent
}

export interface FileContent {
  readonly source: ContentSource
  readonly repository: Reference
  readonly layer: Descriptor
}

/** Something that holds files. */
export interface FileHolder {
  readonly files: readonly CarriedFile[]
  /** Archives that could not be opened, and holes that say more. */
  readonly problems: readonly KnownError[]
  readonly close: () => Promise<void>
}

/**
 * The file that `wanted` names: by its name, or by its repository below the target, with `:TAG` behind it where there are
 * several versions. The same file under several tags is one.
 *
 * @throws KnownError FILE_ABSENT, and USAGE where several files have the name
 */
export function chooseFile(files: readonly CarriedFile[], wanted: string): CarriedFile {
  const { name, tag } = splitVersion(wanted)
  const whole = files.filter((file) => isCalled(file, wanted))
  const named = whole.length > 0 ? whole : files.filter((file) => isCalled(file, name) && file.tag === tag)
  const here = named.filter(({ state }) => state === 'here')
  const [first, ...others] = here
  if (first && others.every(({ digest }) => digest === first.digest)) return first
  if (first) {
    const versions = here.map((file) => `${file.repository}:${file.tag}`).join(', ')
    throw new KnownError('USAGE', `${wanted} is the name of ${here.length} different files: ${versions}`, {
      hint: 'Name one of these.',
      details: { name: wanted },
    })
  }
  const [absent] = named
  throw new KnownError('FILE_ABSENT', `${wanted}: ${absent ? reasons[absent.state] : noSuchFile(files, name)}`, {
    details: { name: wanted, place: absent?.place },
  })
}

function noSuchFile(files: readonly CarriedFile[], name: string): string {
  const meant = nearest(
    name,
    files.map((file) => file.name),
  )
  return `there is no such file${meant === undefined ? '' : `; did you mean "${meant}"?`}`
}

const reasons: Readonly<Record<FileState, string>> = {
  here: 'it is here',
  held: 'the archive does not carry it, because the target had it already; get it from there, or from the archive before',
  missing: 'the volume of the archive that it lies in is not here',
  hole: 'it was not to be had when the archive was made',
}

function isCalled(file: CarriedFile, name: string): boolean {
  return file.name === name || file.repository === name
}

/** `NAME:TAG` in its two parts; a file may also have a colon in its name. */
export function splitVersion(wanted: string): { readonly name: string; readonly tag?: string } {
  const colon = wanted.lastIndexOf(':')
  const tag = wanted.slice(colon + 1)
  return colon > 0 && isTag(tag) ? { name: wanted.slice(0, colon), tag } : { name: wanted }
}
