/** The files of a step registry on disk (openshift/ci-tools: pkg/load/load.go `Registry`). */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'

export interface ListedFile {
  readonly path: string
  readonly name: string
  /** Folders between the root and the file. */
  readonly folders: readonly string[]
}

export interface FileList {
  /** In the order of their paths. */
  readonly files: readonly ListedFile[]
  /** cluster-profiles/cluster-profiles-config.yaml; what else stands in that folder is no business of ours. */
  readonly clusterProfiles: string | undefined
}

/**
 * Everything below `root` that a registry may hold. `..data` and the like are how Kubernetes mounts a ConfigMap.
 *
 * @throws KnownError FILE_UNREADABLE, STEP_REGISTRY_INVALID where it is the checkout around a registry
 */
export function listRegistryFiles(root: string): FileList {
  const files: ListedFile[] = []
  let clusterProfiles: string | undefined
  const walk = (folder: string, folders: readonly string[]) => {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.name.startsWith('..')) continue
      if (!entry.isDirectory()) files.push({ path, name: entry.name, folders })
      else if (entry.name === 'cluster-profiles') clusterProfiles = profilesIn(path) ?? clusterProfiles
      else walk(path, [...folders, entry.name])
    }
  }
  refuseCheckout(root)
  walk(root, [])
  return { files, clusterProfiles }
}

const placeInCheckout = join('ci-operator', 'step-registry')

/** Whoever names the whole checkout would be told of thousands of names that do not fit their paths. */
function refuseCheckout(root: string): void {
  const registry = join(root, placeInCheckout)
  if (statSync(registry, { throwIfNoEntry: false })?.isDirectory() !== true) return
  throw new KnownError('STEP_REGISTRY_INVALID', `${root} holds a step registry, and is none itself`, {
    hint: `Name the directory within: --registry ${registry}.`,
    details: { directory: root },
  })
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'EACCES', 'ENOTDIR')) throw cause
    const why = cause.code === 'ENOENT' ? 'there is no such directory' : 'it is no directory that this user may read'
    throw new KnownError('FILE_UNREADABLE', `Cannot read ${folder}: ${why}`, {
      details: { file: folder },
      hint: 'Name the directory ci-operator/step-registry of a checkout of openshift/release, or one that is made like it.',
      cause,
    })
  }
}

function profilesIn(folder: string): string | undefined {
  const name = 'cluster-profiles-config.yaml'
  return entriesOf(folder).some((entry) => entry.name === name) ? join(folder, name) : undefined
}

/** The text of a file, which may be compressed: a ConfigMap has little room. undefined: it cannot be read. */
export function readMaybeGzip(path: string): string | undefined {
  return readBytes(path)?.toString('utf8')
}

/** False where a replacement character in the text of {@link readMaybeGzip} stands for bytes that mean nothing. */
export function isUtf8File(path: string): boolean {
  const bytes = readBytes(path)
  return bytes?.equals(Buffer.from(bytes.toString('utf8'))) !== false
}

function readBytes(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path)
    return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'ELOOP')) return undefined
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) return undefined
    throw error
  }
}
