/** What the files that oc-mirror left hold, and where. Filled once, when they are opened. */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode } from '../../errors/known-error.ts'
import { algorithmOf, type Digest, hexOf, isDigest } from '../../oci/digest.ts'
import type { FileSlice } from '../tar/file-slice.ts'
import { type ArchiveFlaw, invalidArchive, type TarScanEntry } from '../tar/tar-scan.ts'
import { isInStorage, isLinkFile, readEntryName, safeEntryName } from './oc-mirror-entry.ts'

/** A link holds a digest: this much is read of it. */
const maxLinkBytes = 256
/** A hostile archive must not fill the memory with what is wrong with it. */
const maxNotes = 1000

export class OcMirrorIndex {
  /** Roots of storages on disk: `…/docker/registry/v2`. */
  readonly roots: string[] = []
  /** By repository, then by tag. */
  readonly tags = new Map<string, Map<string, Digest>>()
  /** By digest of a manifest, the repositories that have it. */
  readonly revisions = new Map<Digest, readonly string[]>()
  /** The configurations, and files of the workspace. The last of a name counts, as when the archives are unpacked. */
  readonly documents = new Map<string, FileSlice>()
  /** Damage: what comes after it in its file is unknown. */
  readonly damage: ArchiveFlaw[] = []
  /** Entries that do not count, and why. */
  readonly passedOver: ArchiveFlaw[] = []
  /** Tags whose link says nothing that can be read, by `REPOSITORY:TAG`. */
  readonly brokenTags = new Map<string, ArchiveFlaw>()
  /** True where damage may have taken links away, so that nobody can tell which tags there were. */
  isMissingLinks = false

  readonly #blobs = new Map<Digest, FileSlice>()
  /** Further places of blobs that are there with several sizes. */
  readonly #others = new Map<Digest, FileSlice[]>()
  readonly #lists = new Map<string, readonly string[]>()
  #isWithinLinks = true

  get isEmpty(): boolean {
    return this.tags.size === 0 && this.#blobs.size === 0 && this.revisions.size === 0
  }

  /** @throws KnownError ARCHIVE_INVALID for an entry that oc-mirror does not write and that would be dangerous to unpack */
  addTarEntry(file: string, entry: TarScanEntry): void {
    const name = safeEntryName(entry.name)
    if (name === undefined)
      throw invalidArchive(file, entry.headerOffset, `the entry "${entry.name}" would lie outside the archive`)
    if (entry.kind === 'directory') return
    this.#isWithinLinks = isLinkFile(name)
    if (entry.kind !== 'file') {
      const what = entry.kind === 'sparse' ? 'a sparse file' : 'no file: a link, a device or something unknown'
      if (entry.kind === 'other' && isInStorage(name))
        throw invalidArchive(file, entry.headerOffset, `"${name}" is ${what}`)
      this.passOver({ file, offset: entry.headerOffset, why: `"${name}" is ${what}` })
      return
    }
    this.#addFile(file, name, entry)
  }

  addDamage(flaw: ArchiveFlaw): void {
    this.isMissingLinks ||= this.#isWithinLinks
    this.#note(this.damage, flaw)
  }

  passOver(flaw: ArchiveFlaw): void {
    this.#note(this.passedOver, flaw)
  }

  addTag(repository: string, tag: string, link: { text: string; file: string; offset: number }): void {
    const digest = link.text.trim()
    const name = `${repository}:${tag}`
    if (!isDigest(digest)) {
      const flaw = { file: link.file, offset: link.offset, why: `the link of the tag ${name} holds no digest` }
      this.brokenTags.set(name, flaw)
      this.passOver(flaw)
      return
    }
    this.brokenTags.delete(name)
    const tags = this.tags.get(repository) ?? new Map<string, Digest>()
    this.tags.set(repository, tags.set(tag, digest))
    // oc-mirror writes the revision too; a tag alone also says that the repository has it.
    this.addRevision(repository, digest)
  }

  addRevision(repository: string, digest: Digest): void {
    const holders = this.revisions.get(digest)
    if (holders === undefined) this.revisions.set(digest, this.#alone(repository))
    else if (!holders.includes(repository)) this.revisions.set(digest, [...holders, repository])
  }

  /** Every place that may hold a blob, the likeliest first: those of the archives, and then those on disk. */
  async placesOf(digest: Digest): Promise<readonly FileSlice[]> {
    const first = this.#blobs.get(digest)
    const inArchives = first ? [first, ...(this.#others.get(digest) ?? [])] : []
    const onDisk = await Promise.all(this.roots.map((root) => storedBlob(root, digest)))
    return [...inArchives, ...onDisk.filter((slice) => slice !== undefined)]
  }

  /** One list for all manifests that only this repository has, as nearly all are. */
  #alone(repository: string): readonly string[] {
    const list = this.#lists.get(repository) ?? [repository]
    this.#lists.set(repository, list)
    return list
  }

  #addFile(file: string, name: string, entry: TarScanEntry): void {
    const slice: FileSlice = { file, offset: entry.offset, size: entry.size }
    const meaning = readEntryName(name)
    if (meaning.kind === 'blob') this.#addBlob(meaning.digest, slice)
    if (meaning.kind === 'revision') this.addRevision(meaning.repository, meaning.digest)
    if (meaning.kind === 'document') this.documents.set(name, slice)
    if (meaning.kind === 'tag') {
      const text = entry.head(maxLinkBytes).toString('latin1')
      this.addTag(meaning.repository, meaning.tag, { text, file, offset: entry.offset })
    }
  }

  #addBlob(digest: Digest, slice: FileSlice): void {
    const first = this.#blobs.get(digest)
    if (first === undefined) {
      this.#blobs.set(digest, slice)
      return
    }
    const others = this.#others.get(digest) ?? []
    if ([first, ...others].some(({ size }) => size === slice.size)) return
    this.#others.set(digest, [...others, slice])
    const { file, offset, size } = slice
    this.passOver({
      file,
      offset,
      why: `${digest} is here with ${size} bytes; at byte ${first.offset} of ${first.file} it has ${first.size}: only one of them can be it`,
    })
  }

  #note(list: ArchiveFlaw[], flaw: ArchiveFlaw): void {
    if (list.length < maxNotes) list.push(flaw)
  }
}

/** A blob in a storage on disk; nothing but a plain file counts. */
async function storedBlob(root: string, digest: Digest): Promise<FileSlice | undefined> {
  const hex = hexOf(digest)
  const file = join(root, 'blobs', algorithmOf(digest), hex.slice(0, 2), hex, 'data')
  try {
    const status = await lstat(file)
    return status.isFile() ? { file, offset: 0, size: status.size } : undefined
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}
