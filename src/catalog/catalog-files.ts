/** A catalog in a directory of this machine. */
import type { Dirent } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { CatalogFile, CatalogFiles } from './meta.ts'

const chunkBytes = 256 * 1024

/**
 * Files are read as `opm` reads them: a link to a file counts as one. It may not lead out of the directory.
 *
 * @returns files whose reading throws KnownError FILE_UNREADABLE, and LAYER_UNSAFE for a link that leads elsewhere
 */
export function catalogFilesOfDirectory(directory: string): CatalogFiles {
  return { origin: directory, files: (signal) => filesOf(directory, signal) }
}

async function* filesOf(directory: string, signal: AbortSignal | undefined): AsyncGenerator<CatalogFile> {
  const root = await attempt(directory, () => realpath(directory))
  const folders = [root]
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const here = folder
    const entries = await attempt(here, () => readdir(here, { withFileTypes: true }))
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      signal?.throwIfAborted()
      const path = join(here, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else yield await fileAt(path, entry, root)
    }
  }
}

async function fileAt(path: string, entry: Dirent, root: string): Promise<CatalogFile> {
  const shown = relative(root, path).split(sep).join('/')
  if (entry.isSymbolicLink()) {
    const target = await attempt(path, () => realpath(path))
    if (!target.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) throw unsafe(path, `leads to ${target}`)
  }
  const state = await attempt(path, () => stat(path))
  if (!state.isFile()) throw unsafe(path, entry.isSymbolicLink() ? 'leads to something else' : 'is something else')
  return { path: shown, size: state.size, open: () => chunksOf(path) }
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  await using file = await attempt(path, () => open(path, 'r'))
  for (;;) {
    const chunk = Buffer.allocUnsafeSlow(chunkBytes)
    const { bytesRead } = await attempt(path, () => file.read(chunk, 0, chunkBytes, null))
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
  }
}

async function attempt<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'EIO')) throw cause
    throw new KnownError('FILE_UNREADABLE', `${path} cannot be read: ${cause.code}`, { details: { file: path }, cause })
  }
}

function unsafe(path: string, why: string): KnownError {
  return new KnownError('LAYER_UNSAFE', `${path} ${why}: a catalog is a directory of plain files`, {
    details: { path },
    hint: 'Copy the file to where the link is, or exclude it by taking it out of the directory.',
  })
}
