/** Finds what oc-mirror left in a directory: archives, and a cache that is already unpacked. */
import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import { isDigest } from '../../oci/digest.ts'
import { isRepositoryPath, isTag } from '../../oci/reference.ts'
import { invalidArchive } from '../tar/tar-scan.ts'
import { storageFolder } from './oc-mirror-entry.ts'
import type { OcMirrorIndex } from './oc-mirror-index.ts'

export interface OcMirrorFiles {
  /** Paths of `mirror_000001.tar` and so on, in this order. */
  readonly archives: readonly string[]
  /** Paths of archives that oc-mirror v1 wrote: `mirror_seq1_000000.tar`. */
  readonly fromV1: readonly string[]
  /** Paths of storages: folders with `blobs` and `repositories`. */
  readonly roots: readonly string[]
}

/** Undefined where the directory has nothing of oc-mirror, or is not there. */
export async function findOcMirrorFiles(directory: string): Promise<OcMirrorFiles | undefined> {
  const names = (await list(directory)).map(({ name }) => name).sort()
  const paths = (pattern: RegExp) => names.filter((name) => pattern.test(name)).map((name) => join(directory, name))
  const archives = paths(/^mirror_\d{6,}\.tar$/)
  const fromV1 = paths(/^mirror_seq\d+_\d+\.tar$/)
  const candidates = [join(directory, '.oc-mirror', '.cache', storageFolder), join(directory, storageFolder), directory]
  const areStorages = await Promise.all(candidates.map(isStorage))
  const roots = candidates.filter((_, index) => areStorages[index])
  for (const archive of archives) {
    if (!(await stat(archive)).isFile()) throw invalidArchive(archive, 0, 'this is no file')
  }
  return archives.length + fromV1.length + roots.length > 0 ? { archives, fromV1, roots } : undefined
}

/** Paths of the archives that are missing between those that are here: oc-mirror numbers them from 1. */
export function missingArchives(archives: readonly string[]): string[] {
  const numberOf = (path: string) => Number(/(\d+)\.tar$/.exec(path)?.[1])
  const here = new Set(archives.map(numberOf))
  const last = archives.at(-1)
  if (last === undefined) return []
  return Array.from({ length: Math.min(numberOf(last), maxGap) }, (_, index) => index + 1)
    .filter((number) => !here.has(number))
    .map((number) => join(dirname(last), `mirror_${String(number).padStart(6, '0')}.tar`))
}

/** A number beyond is no count of archives: somebody gave the file this name. */
const maxGap = 10_000

/** What to do about a file that holds other bytes than it should. */
export function remedyFor(file: string): string {
  return file.endsWith('.tar')
    ? `Copy ${basename(file)} again from where oc-mirror wrote it, or let oc-mirror write the archive again.`
    : 'Remove this file and let oc-mirror fill its cache again, or read its archives instead of the cache.'
}

/** Reads the names of a storage on disk; its blobs are looked for when they are asked for. */
export async function indexStorage(root: string, index: OcMirrorIndex): Promise<void> {
  index.roots.push(root)
  const repositories = await findRepositories(join(root, 'repositories'))
  await mapConcurrently(repositories, 16, (repository) => indexRepository(root, repository, index))
}

async function isStorage(root: string): Promise<boolean> {
  const names = (await list(root)).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return names.includes('blobs') && names.includes('repositories')
}

async function findRepositories(root: string): Promise<string[]> {
  const found: string[] = []
  const open = ['']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const folders = (await list(join(root, path))).filter((entry) => entry.isDirectory())
    if (folders.some(({ name }) => name === '_manifests')) found.push(path)
    for (const { name } of folders) {
      const below = path === '' ? name : `${path}/${name}`
      if (isRepositoryPath(below)) open.push(below)
    }
  }
  return found.sort()
}

async function indexRepository(root: string, repository: string, index: OcMirrorIndex): Promise<void> {
  const manifests = join(root, 'repositories', repository, '_manifests')
  for (const { name: algorithm } of await list(join(manifests, 'revisions'))) {
    for (const { name } of await list(join(manifests, 'revisions', algorithm))) {
      const digest = `${algorithm}:${name}`
      if (isDigest(digest)) index.addRevision(repository, digest)
    }
  }
  for (const { name: tag } of await list(join(manifests, 'tags'))) {
    if (!isTag(tag)) continue
    const file = join(manifests, 'tags', tag, 'current', 'link')
    const text = await readLink(file)
    if (text !== undefined) index.addTag(repository, tag, { text, file, offset: 0 })
  }
}

/** Undefined where there is no such file; distribution leaves the folder of a tag that was deleted. */
async function readLink(file: string): Promise<string | undefined> {
  return absentAsUndefined(file, async () => ((await stat(file)).isFile() ? readFile(file, 'latin1') : ''))
}

async function list(directory: string): Promise<Dirent[]> {
  return (await absentAsUndefined(directory, () => readdir(directory, { withFileTypes: true }))) ?? []
}

/** @throws KnownError FILE_UNREADABLE */
async function absentAsUndefined<Result>(path: string, action: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await action()
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT', 'ENOTDIR')) return undefined
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new KnownError('FILE_UNREADABLE', `${path}: cannot be read: ${why}`, { details: { file: path }, cause })
  }
}
