import { fileRepository } from '../config/image-set-files.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { formatMirrorTarget, type MirrorTarget, targetRepository } from '../mirror/destination.ts'
import { fileOf } from '../oci/file-artifact.ts'
import { parseManifest } from '../oci/manifest.ts'
import { formatReference, isRepositoryPath, type Reference } from '../oci/reference.ts'
import type { RegistryClient } from '../remote/client.ts'
import { type CarriedFile, splitVersion } from './carried-files.ts'

/** Of the client of registries, what is used here. */
type FileRegistry = Pick<RegistryClient, 'fetchManifest' | 'fetchBlob' | 'tags' | 'repositories'> & RegistryClient

export interface FilesAtOptions {
  readonly registry: FileRegistry
  readonly signal: AbortSignal
}

/**
 * Every file below `files/` of a target.
 *
 * @throws KnownError FILE_ABSENT where the registry does not list its repositories, and the REGISTRY_ codes
 */
export async function filesAt(target: MirrorTarget, { registry, signal }: FilesAtOptions): Promise<CarriedFile[]> {
  const all = await repositoriesOf(target, { registry, signal })
  const prefix = `${[target.path, 'files'].filter(Boolean).join('/')}/`
  const ours = all.filter((repository) => repository.startsWith(prefix)).sort()
  const found = await mapConcurrently(ours, 8, (repository) =>
    filesIn({ registry: target.registry, repository }, target, { registry, signal }),
  )
  return found.flat()
}

async function repositoriesOf(target: MirrorTarget, { registry, signal }: FilesAtOptions): Promise<readonly string[]> {
  const hint =
    'Name the file that you want: sallyport files get docker://HOST/PATH NAME; sallyport files ls DIR lists those of an archive.'
  const silent = (cause?: unknown) =>
    new KnownError('FILE_ABSENT', `${target.registry} does not tell its repositories, so its files cannot be listed`, {
      details: { host: target.registry },
      hint,
      cause,
    })
  try {
    const all = await registry.repositories(target.registry, signal)
    if (all) return all
  } catch (error) {
    if (!(error instanceof KnownError) || !isRefusal(error)) throw error
    throw silent(error)
  }
  throw silent()
}

/** The list of all repositories may be for administrators only. */
function isRefusal({ code }: KnownError): boolean {
  return code === 'REGISTRY_UNAUTHORIZED' || code === 'REGISTRY_DENIED'
}

/**
 * The files that `wanted` may name at a target, found without a list of repositories.
 *
 * @param wanted a file name, or the path of a repository below the target, with or without `:TAG`
 */
export async function filesNamed(
  target: MirrorTarget,
  wanted: string,
  options: FilesAtOptions,
): Promise<CarriedFile[]> {
  const { name } = splitVersion(wanted)
  for (const one of new Set([wanted, name])) {
    const path = one.includes('/') ? one : fileRepository(one)
    if (!isRepositoryPath(path)) continue
    const files = await filesIn(targetRepository(target, path), target, options)
    if (files.length > 0) return files
  }
  return []
}

/** One entry for each tag; what is no file is passed over. */
async function filesIn(
  repository: Reference,
  target: MirrorTarget,
  { registry, signal }: FilesAtOptions,
): Promise<CarriedFile[]> {
  const tags = (await registry.tags(repository, signal)) ?? []
  const files = await mapConcurrently([...tags].sort(), 8, async (tag): Promise<CarriedFile[]> => {
    const reference = { ...repository, tag }
    const raw = await registry.fetchManifest(reference, signal)
    if (!raw) return []
    const origin = formatReference(reference)
    const file = fileOf(parseManifest(raw.bytes, raw.descriptor.mediaType, origin))
    if (!file) return []
    const { name, size, digest, layer, url } = file
    const path = formatReference(repository).slice(formatMirrorTarget(target).length + 1)
    const about = { name, size, digest, tag, repository: path, place: origin, ...(url !== undefined && { url }) }
    return [{ ...about, state: 'here', content: { source: registry, repository, layer } }]
  })
  return files.flat()
}
