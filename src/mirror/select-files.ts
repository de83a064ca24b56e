/**
 * From the files of a configuration to images: on the side that has them they are made, on the other side their names are
 * enough. Names follow from the configuration and from what releases say, and from nothing else.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type FileEntry, filePlace } from '../config/image-set-files.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { type Digest, hasherFor, parseDigest } from '../oci/digest.ts'
import type { Reference } from '../oci/reference.ts'
import type { WebClient } from '../remote/web-client.ts'
import { type MirrorTarget, targetRepository } from './destination.ts'
import { makeFileArtifact, openOrigin, placeOf } from './file-artifacts.ts'
import { type RecordedFile, recordFiles } from './file-record.ts'
import type { LocalContent } from './local-content.ts'
import { type MadeImage, madeRegistry } from './made-content.ts'
import type { ContentClass, SelectedImage, UnreadableImage } from './selection.ts'
import type { Workspace } from './workspace.ts'

/** A file that is to travel. */
export interface WantedFile {
  /** A plain file name. */
  readonly name: string
  /** Below the target. */
  readonly repository: string
  readonly tag: string
  readonly class: ContentClass
  /** For people. */
  readonly why: string
  /** Where it is: `http:`, `https:`, or `file:` of this machine. Absent where it is only named, to be deleted. */
  readonly url?: URL
  /** Absent for a file of this machine whose checksum nobody wrote. */
  readonly digest?: Digest
}

export interface SelectFilesOptions {
  readonly target: MirrorTarget
  /** What relative paths are relative to. */
  readonly cwd: string
  /** Classes that are left out; files of a configuration are `additional`. */
  readonly skip?: ReadonlySet<ContentClass>
  /** The boot images that releases name. */
  readonly bootImages?: readonly WantedFile[]
  /** Absent on the side that has the archive: then no URL is asked, and no file opened. */
  readonly making?: FileMaking
}

export interface FileMaking {
  readonly web: WebClient
  /** Where a file is kept whose size its server does not tell. */
  readonly local: LocalContent
  readonly workspace: Workspace
  readonly signal: AbortSignal
  /** Takes what people should know, a line at a time. */
  readonly tell: (line: string) => void
}

export interface FileSelection {
  readonly images: readonly SelectedImage[]
  /** To be laid over the source of the transfer; none without `making`. */
  readonly made: readonly MadeImage[]
  readonly unreadable: readonly UnreadableImage[]
}

/** @throws KnownError DISK_FULL; what is wrong with single files is in the result */
export async function selectFiles(entries: readonly FileEntry[], options: SelectFilesOptions): Promise<FileSelection> {
  const { target, cwd, skip = new Set(), bootImages = [], making } = options
  const wanted = [...filesOf(entries, cwd), ...bootImages].filter((file) => !skip.has(file.class))
  if (!making) return { images: wanted.map((file) => selectedFile(file, target)), made: [], unreadable: [] }
  const found = await mapConcurrently(wanted, 8, async (file) => ({ file, ...(await describe(file, making)) }))
  const known = found.flatMap(({ file, recorded }) => (recorded ? [{ file, recorded }] : []))
  if (known.length > 0)
    await recordFiles(
      making.workspace,
      known.map(({ recorded }) => recorded),
    )
  return {
    images: known.map(({ file }) => selectedFile(file, target)),
    made: known.map(({ recorded }) => madeFile(recorded, making)),
    unreadable: found.flatMap(({ file, error }) => (error ? [{ image: selectedFile(file, target), error }] : [])),
  }
}

/** What a configuration names. */
function filesOf(entries: readonly FileEntry[], cwd: string): WantedFile[] {
  return entries.flatMap((entry): WantedFile[] => {
    const place = filePlace(entry)
    if (!place) return []
    const { url: address, path, sha256 } = entry
    const url = address === undefined ? path && pathToFileURL(resolve(cwd, path)) : new URL(address)
    const digest = sha256 && parseDigest(`sha256:${sha256.toLowerCase().replace(/^sha256:/, '')}`)
    return [
      {
        ...place,
        class: 'additional',
        why: `files ${url === undefined || url === '' ? place.name : (path ?? placeOf(url))}`,
        ...(url && { url }),
        ...(digest && { digest }),
      },
    ]
  })
}

/** As an image: the same on both sides of the gap. */
export function selectedFile(file: WantedFile, target: MirrorTarget): SelectedImage {
  const { repository, tag, why } = file
  return {
    source: madeName(file),
    class: file.class,
    destination: { ...targetRepository(target, repository), tag },
    why,
  }
}

function madeName({ repository, tag }: WantedFile): Reference {
  return { registry: madeRegistry, repository, tag }
}

/** The image of a file that was described, now or in an earlier run. */
export function madeFile(recorded: RecordedFile, { web, signal }: Pick<FileMaking, 'web' | 'signal'>): MadeImage {
  const { url, ...file } = recorded
  const isPublic = url.protocol !== 'file:'
  return makeFileArtifact({
    ...file,
    ...(isPublic && { url: placeOf(url) }),
    open: ({ offset, signal: own }) =>
      openOrigin(web, recorded, { offset, signal: own ? AbortSignal.any([own, signal]) : signal }),
  })
}

/** One of the two is there. */
interface Described {
  readonly recorded?: RecordedFile
  readonly error?: KnownError
}

async function describe(file: WantedFile, making: FileMaking): Promise<Described> {
  try {
    const { url } = file
    if (!url) throw new KnownError('FILE_UNREADABLE', `${file.name}: neither a URL nor a path says where this file is`)
    const facts = url.protocol === 'file:' ? await describeHere(file, url) : await describeAfar(file, url, making)
    return { recorded: { reference: madeName(file), name: file.name, url, ...facts } }
  } catch (error) {
    making.signal.throwIfAborted()
    // Other files, and images, do not wait for this one.
    if (!(error instanceof KnownError) || !/^(?:WEB|FILE)_/.test(error.code)) throw error
    return { error }
  }
}

interface Facts {
  readonly digest: Digest
  readonly size: number
}

async function describeHere({ digest }: WantedFile, url: URL): Promise<Facts> {
  const path = fileURLToPath(url)
  try {
    const status = await stat(path)
    if (!status.isFile()) throw new KnownError('FILE_UNREADABLE', `${path} is no plain file`, { details: { path } })
    if (digest) return { digest, size: status.size }
    const hash = hasherFor('sha256')
    let size = 0
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      hash.update(chunk as Uint8Array)
      size += (chunk as Uint8Array).byteLength
    }
    return { digest: parseDigest(`sha256:${hash.digest('hex')}`), size }
  } catch (cause) {
    if (cause instanceof KnownError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new KnownError('FILE_UNREADABLE', `${path}: this file cannot be read: ${why}`, { details: { path }, cause })
  }
}

async function describeAfar(
  { name, digest }: WantedFile,
  url: URL,
  { web, local, signal, tell }: FileMaking,
): Promise<Facts> {
  if (!digest) throw new KnownError('FILE_UNREADABLE', `${placeOf(url)}: no checksum says what this file is`)
  const found = await web.describe(url, { what: `file ${name}`, signal })
  if (!found) {
    throw new KnownError('WEB_REFUSED', `${placeOf(url)}: there is no such file`, {
      details: { url: placeOf(url) },
      hint: 'Correct the URL, or take the file out of the configuration; look at it with curl -I.',
    })
  }
  if (found.size !== undefined) return { digest, size: found.size }
  tell(`${placeOf(url)}: the server does not tell the size of ${name}, so it is fetched into the workspace first`)
  return { digest, size: await local.bringUnsized(digest, () => openOrigin(web, { name, url, digest }, { signal })) }
}
