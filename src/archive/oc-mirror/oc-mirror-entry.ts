/**
 * What the names of files mean in the archives and the cache of oc-mirror v2.
 *
 * The cache is the storage of a CNCF distribution registry (distribution `registry/storage/paths.go`, version 2); an
 * archive holds files of it, the workspace, and the configuration (openshift/oc-mirror `internal/pkg/archive/archive.go`).
 */
import { type Digest, isDigest } from '../../oci/digest.ts'
import { isRepositoryPath, isTag } from '../../oci/reference.ts'

/** Where the storage lies below a cache, and in an archive. */
export const storageFolder = 'docker/registry/v2'

export type OcMirrorEntry =
  | { readonly kind: 'blob'; readonly digest: Digest }
  | { readonly kind: 'tag'; readonly repository: string; readonly tag: string }
  | { readonly kind: 'revision'; readonly repository: string; readonly digest: Digest }
  /** The configuration, and files of the workspace that a load can use. */
  | { readonly kind: 'document' }
  /** Layer links, unfinished uploads, catalogs, logs: nothing that is needed. */
  | { readonly kind: 'unused' }

const unused = { kind: 'unused' } as const
const repositoryFile = /^repositories\/(.+)\/_manifests\/(tags|revisions)\/(.+)$/
const documentFile = /^(?:isc_[^/]+|working-dir\/(?:signatures|hold-release)\/.+)$/

/** @param name safe, as `safeEntryName` gives it */
export function readEntryName(name: string): OcMirrorEntry {
  if (!isInStorage(name)) return documentFile.test(name) ? { kind: 'document' } : unused
  const path = name.slice(storageFolder.length + 1)
  if (path.startsWith('blobs/')) return blobEntry(path)
  const [, repository = '', part, rest = ''] = repositoryFile.exec(path) ?? []
  if (part === undefined || !isRepositoryPath(repository)) return unused
  const names = rest.split('/')
  if (part === 'tags') {
    const [tag = '', ...file] = names
    return isTag(tag) && file.join('/') === 'current/link' ? { kind: 'tag', repository, tag } : unused
  }
  const [algorithm, hex, file] = names
  const digest = `${algorithm}:${hex}`
  return isDigest(digest) && file === 'link' && names.length === 3 ? { kind: 'revision', repository, digest } : unused
}

export function isInStorage(name: string): boolean {
  return name.startsWith(`${storageFolder}/`)
}

/** True for the files that say what the tags of repositories stand for. */
export function isLinkFile(name: string): boolean {
  return name.startsWith(`${storageFolder}/repositories/`)
}

/** The name of an entry without a leading `./`; undefined where it is absolute or leads out of the archive. */
export function safeEntryName(name: string): string | undefined {
  const path = name.replace(/^(?:\.\/+)+/, '')
  const isUnsafe = path.startsWith('/') || path.includes('\0') || path.split('/').includes('..')
  return isUnsafe ? undefined : path
}

function blobEntry(path: string): OcMirrorEntry {
  const [, algorithm, folder, hex = '', file, ...more] = path.split('/')
  const digest = `${algorithm}:${hex}`
  const isBlob = isDigest(digest) && folder === hex.slice(0, 2) && file === 'data' && more.length === 0
  return isBlob ? { kind: 'blob', digest } : unused
}
