/**
 * What oc-mirror v2 leaves in a directory, made without oc-mirror.
 *
 * Source: openshift/oc-mirror `internal/pkg/archive/{archive,permissive_adder}.go`: files of its cache, its workspace and the
 * configuration, in this order, in tar files that are cut between files; a file that is larger than one gets its own.
 */
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Pack, pack } from 'tar-stream'
import type { SampleImage } from '../src/quickstart/sample-image.ts'
import { type RepositoryContent, writeToDockerRegistryRoot } from './seed.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'
import type { Upstream } from './upstream.ts'

export interface OcMirrorArchiveOptions {
  /** Repositories and tags as the cache names them. */
  readonly content: readonly RepositoryContent[]
  /** Bytes of content after which another tar is begun. Default: one tar. */
  readonly archiveBytes?: number
  /** Text of the configuration. */
  readonly configuration?: string
  /** Files of the workspace by their path within it. */
  readonly workingDir?: Readonly<Record<string, string | Uint8Array>>
  /** Digests that an earlier archive carried. */
  readonly history?: readonly string[]
}

export interface OcMirrorDirectory {
  /** Where the tars are. */
  readonly directory: string
  /** Paths of the tars, in the order of their names. */
  readonly tars: readonly string[]
  /** The cache that they were made from. */
  readonly cache: string
}

const configurationName = 'isc_2026-01-16T12:30:04Z'

export async function writeOcMirrorArchive(t: Cleanup, options: OcMirrorArchiveOptions): Promise<OcMirrorDirectory> {
  const [cache, directory] = [await tempDir(t), await tempDir(t)]
  await writeToDockerRegistryRoot(cache, options.content)
  for (const [path, text] of Object.entries(options.workingDir ?? {})) {
    await mkdir(dirname(join(cache, 'working-dir', path)), { recursive: true })
    await writeFile(join(cache, 'working-dir', path), text)
  }
  await writeFile(join(cache, configurationName), options.configuration ?? 'kind: ImageSetConfiguration\n')
  const storage = 'docker/registry/v2'
  const blobs = await filesBelow(cache, `${storage}/blobs`)
  const carried = blobs.filter((name) => !options.history?.some((digest) => name.includes(digest.replace(/^.*:/, ''))))
  const names = [
    ...(await filesBelow(cache, `${storage}/repositories`)),
    ...carried,
    ...(await filesBelow(cache, 'working-dir')),
    configurationName,
  ]
  const tars = new TarFiles(directory, options.archiveBytes ?? Number.POSITIVE_INFINITY)
  for (const name of names) await tars.add(name, await readFile(join(cache, name)))
  await tars.close()
  return { directory, cache, tars: tars.paths.toSorted() }
}

/** What oc-mirror has in its cache after a run that asked `upstream` for everything. */
export function cachedContent({
  release,
  additional,
  content,
}: Pick<Upstream, 'release' | 'additional' | 'content'>): RepositoryContent[] {
  const attached = content.map(({ repository, images }) => ({
    repository,
    images: images.filter((image) => isAttachment(image)),
  }))
  return [
    { repository: 'openshift/release-images', images: [tagged(release.image, release.tag)] },
    {
      repository: 'openshift/release',
      images: release.components.map(({ name, image }) => tagged(image, `${release.tag}-${name}`)),
    },
    ...additional.map(({ destination, image }) => {
      const [repository = '', tag = ''] = destination.split(':')
      return { repository, images: [tagged(image, tag)] }
    }),
    ...attached,
  ]
}

function isAttachment({ manifests }: SampleImage): boolean {
  const top = manifests.at(-1)
  const { subject } = JSON.parse(Buffer.from(top?.bytes ?? []).toString('utf8')) as { subject?: object }
  return subject !== undefined || top?.tag?.endsWith('.sig') === true
}

function tagged(image: SampleImage, tag: string): SampleImage {
  const below = image.manifests.slice(0, -1).map(({ descriptor, bytes }) => ({ descriptor, bytes }))
  return { ...image, manifests: [...below, ...image.manifests.slice(-1).map((top) => ({ ...top, tag }))] }
}

/** As Go's `filepath.Walk` gives them: files only, in the order of their names. */
async function filesBelow(root: string, path: string): Promise<string[]> {
  const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return files.map((file) => file.slice(root.length + 1)).sort()
}

class TarFiles {
  readonly paths: string[] = []
  readonly #directory: string
  readonly #limit: number
  #current: TarFile | undefined
  #bytes = 0

  constructor(directory: string, limit: number) {
    this.#directory = directory
    this.#limit = limit
  }

  async add(name: string, content: Buffer): Promise<void> {
    if (content.byteLength > this.#limit) {
      this.#current ??= this.#next()
      const own = this.#next()
      own.add(name, content)
      return own.close()
    }
    if (this.#current !== undefined && this.#bytes + content.byteLength > this.#limit) {
      await this.#current.close()
      this.#current = undefined
    }
    if (this.#current === undefined) {
      this.#current = this.#next()
      this.#bytes = 0
    }
    this.#current.add(name, content)
    this.#bytes += content.byteLength
  }

  async close(): Promise<void> {
    await this.#current?.close()
  }

  #next(): TarFile {
    const path = join(this.#directory, `mirror_${String(this.paths.length + 1).padStart(6, '0')}.tar`)
    this.paths.push(path)
    return new TarFile(path)
  }
}

class TarFile {
  readonly #pack: Pack = pack()
  readonly #written: Promise<void>

  constructor(path: string) {
    this.#written = pipeline(this.#pack, createWriteStream(path))
  }

  add(name: string, content: Buffer): void {
    this.#pack.entry({ name, mode: 0o644, uid: 1000, gid: 1000, uname: 'admin', gname: 'admin' }, content)
  }

  async close(): Promise<void> {
    this.#pack.finalize()
    await this.#written
  }
}
