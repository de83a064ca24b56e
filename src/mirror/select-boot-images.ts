/**
 * The boot images that a release names, as files: what machines are started from where no cloud has an image for them.
 *
 * Where the platform is a cloud that holds the image itself, that is told, with its ids, and nothing is carried.
 */
import type { BootImageEntry } from '../config/image-set-files.ts'
import { fileRepository } from '../config/image-set-files.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { isFileName } from '../oci/file-artifact.ts'
import type { BootFile, BootImage, CoreosStream } from '../openshift/boot-image.ts'
import { bootImages, parseCoreosStream } from '../openshift/coreos-stream.ts'
import { bootImagesFile } from '../openshift/release-payload.ts'
import { parseReleaseTag, rpmArchitecture } from '../openshift/release-tag.ts'
import type { MirrorTarget } from './destination.ts'
import { selectedFile, type WantedFile } from './select-files.ts'
import { readRelease, type SelectOptions, type WantedRelease } from './select-release.ts'
import type { UnreadableImage } from './selection.ts'

export interface BootImageSelection {
  /** For `selectFiles`, which gives them their images. */
  readonly files: readonly WantedFile[]
  /** What the release does not have. */
  readonly unreadable: readonly UnreadableImage[]
  /** Which images of a cloud are to be used. */
  readonly findings: readonly Finding[]
}

interface BootImageRequest {
  readonly entries: readonly BootImageEntry[]
  readonly target: MirrorTarget
}

/** The boot images of one release. What cannot be had of it keeps nothing else from being mirrored. */
export async function selectBootImages(
  release: WantedRelease,
  { entries, target }: BootImageRequest,
  options: SelectOptions,
): Promise<BootImageSelection> {
  const files: WantedFile[] = []
  const unreadable: UnreadableImage[] = []
  const findings: Finding[] = []
  if (entries.length === 0) return { files, unreadable, findings }
  const fail = (error: unknown, entry?: BootImageEntry) => {
    options.signal.throwIfAborted()
    if (!(error instanceof KnownError) || !isOfRelease(error)) throw error
    unreadable.push({ image: selectedFile(placeholder(release, entry), target), error })
  }
  try {
    const { image, tag } = release
    const { version, bootImages: text } = await readRelease(image, { ...options, tag, withBootImages: true })
    if (text === undefined) throw absent(`Release ${version} names no boot images: it has no ${bootImagesFile}`)
    const stream = parseCoreosStream(text, `${bootImagesFile} of release ${version}`)
    for (const entry of entries) {
      try {
        const chosen = chooseBootImages(stream, { entry, version, architecture: architectureOf(release, entry) })
        files.push(...chosen.files)
        findings.push(...chosen.findings)
      } catch (error) {
        fail(error, entry)
      }
    }
  } catch (error) {
    fail(error)
  }
  return { files: distinct(files), unreadable, findings }
}

function isOfRelease({ code }: KnownError): boolean {
  return /^(?:MANIFEST|BLOB|LAYER|PAYLOAD|REGISTRY|REFERENCE|ARCHIVE|BOOT)_/.test(code)
}

/** What stands for a boot image that nobody knows more of. */
function placeholder({ tag, why }: WantedRelease, entry: BootImageEntry | undefined): WantedFile {
  const name = ['boot-images', entry?.platform, entry?.format].filter(Boolean).join('-')
  return { name, repository: fileRepository(name), tag, class: 'release', why: `boot images of ${why}` }
}

/** As CoreOS names it: that of the entry, else that of the release; of one for several, that of most machines. */
function architectureOf({ tag }: WantedRelease, { architecture }: BootImageEntry): string {
  if (architecture !== undefined) return rpmArchitecture(architecture)
  const { architecture: own = 'multi' } = parseReleaseTag(tag)
  return own === 'multi' ? 'x86_64' : own
}

interface Choice {
  readonly entry: BootImageEntry
  readonly version: string
  /** As CoreOS names it. */
  readonly architecture: string
}

/**
 * Pure: what an entry asks for of one release.
 *
 * @throws KnownError BOOT_IMAGE_ABSENT that names what there is
 */
export function chooseBootImages(stream: CoreosStream, choice: Choice): Pick<BootImageSelection, 'files' | 'findings'> {
  const { entry, architecture, version } = choice
  const { platform, format } = entry
  const found = bootImages(stream, { architecture, platform })
  if (found.length === 0) {
    const there = namesOf(bootImages(stream, { architecture }), (image) => image.platform)
    const others = there || `nothing: there is ${namesOf(stream.images, (image) => image.architecture)}`
    throw absent(
      `Release ${version} has no boot image for ${platform} (${architecture}); for ${architecture} it has ${others}`,
    )
  }
  const files = found.filter((image) => image.kind === 'file')
  const held = found.filter((image) => image.kind !== 'file')
  if (format === undefined && held.length > 0)
    return { files: [], findings: held.map((image) => heldFinding(image, files, choice)) }
  const formats = namesOf(files, (image) => image.format)
  const wanted = files.filter((image) => format === undefined || image.format === format)
  if (wanted.length === 0)
    throw absent(
      `Release ${version} has no boot image for ${platform} (${architecture}) in the format ${format}; it has ${formats || 'no file'}`,
    )
  if (new Set(wanted.map((image) => image.format)).size > 1)
    throw absent(
      `Which boot image for ${platform} is wanted must be said with format: release ${version} has ${formats}`,
    )
  return { files: wanted.map((image) => wantedFile(image, version)), findings: [] }
}

function wantedFile(image: BootFile, version: string): WantedFile {
  const { platform, format, architecture, location, digest, role } = image
  const url = new URL(location)
  const name = url.pathname.split('/').at(-1) ?? ''
  if (!isFileName(name))
    throw absent(`Release ${version} names a boot image for ${platform} without a file name: ${location}`)
  const part = role === 'disk' ? format : `${format} ${role}`
  return {
    name,
    url,
    digest,
    repository: fileRepository(name),
    tag: version.replaceAll('+', '_'),
    class: 'release',
    why: `boot image ${platform} ${part} (${architecture}) of release ${version}`,
  }
}

function heldFinding(
  image: Exclude<BootImage, BootFile>,
  files: readonly BootFile[],
  { entry: { platform }, version, architecture }: Choice,
): Finding {
  const formats = namesOf(files, ({ format }) => format)
  const [what, evidence] = heldWords(image)
  const otherwise = formats === '' ? '' : ` To carry the disk instead, add format: ${formats}.`
  return finding({
    id: 'release.boot-image-held',
    severity: 'info',
    summary: `release ${version}: nothing is carried for ${platform} (${architecture}): machines start from ${what}`,
    evidence,
    remedy: `Name it in install-config.yaml where the installer cannot look it up.${otherwise}`,
  })
}

/** For a sentence, and in full. */
function heldWords(image: Exclude<BootImage, BootFile>): readonly [what: string, evidence: string] {
  switch (image.kind) {
    case 'regions': {
      const ids = [...image.regions].map(([region, id]) => `${region} ${id}`)
      const shown = ids.slice(0, 3).join(', ')
      const noun = image.platform === 'aws' ? 'the AMIs' : 'the images'
      return [`${noun} of ${ids.length} regions: ${shown}${ids.length > 3 ? ', …' : ''}`, ids.join('\n')]
    }
    case 'cloud': {
      const name = `${image.project}/${image.name ?? image.family ?? ''}`
      return [`the image ${name}`, name]
    }
    case 'cloud-disk':
      return [`the disk ${image.location}`, image.location]
    case 'container': {
      const name = image.digestReference ?? image.image
      return [`the container image ${name}, which platform.kubeVirtContainer mirrors`, name]
    }
  }
}

function namesOf<T>(images: readonly T[], nameOf: (image: T) => string): string {
  return [...new Set(images.map(nameOf))].join(', ')
}

/** Two entries may ask for one file. */
function distinct(files: readonly WantedFile[]): WantedFile[] {
  return [...new Map(files.map((file) => [`${file.repository}:${file.tag}`, file])).values()]
}

function absent(message: string): KnownError {
  return new KnownError('BOOT_IMAGE_ABSENT', message)
}
