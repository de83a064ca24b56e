/** Boot images that a release names: what to carry for a platform, and how to ask for it. */
import { parse } from 'yaml'
import { KnownError } from '../errors/known-error.ts'
import { hexOf } from '../oci/digest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import type { BootFile, BootImage } from '../openshift/boot-image.ts'
import { bootImages, parseCoreosStream } from '../openshift/coreos-stream.ts'
import { isRecord } from '../openshift/plain-record.ts'
import { bootImagesFile } from '../openshift/release-payload.ts'
import { rpmArchitecture } from '../openshift/release-tag.ts'
import { readPayloadFolder } from './extract-payload.ts'
import type { ReadOptions } from './payload-image.ts'

export interface ReleaseBootImages {
  readonly version: string
  /** The name of the stream: `rhcos-4.18`. */
  readonly name: string
  /** Of the release, as CoreOS writes it; undefined for several, and where it does not say. */
  readonly architecture: string | undefined
  /** The stream metadata, as `openshift-install coreos print-stream-json` prints it. */
  readonly text: string
  readonly images: readonly BootImage[]
}

/** `x86_64` of `amd64`; all, undefined, of `multi`. */
export function coreosName(architecture: string | undefined): string | undefined {
  if (architecture === undefined || architecture === 'multi') return undefined
  return rpmArchitecture(architecture)
}

/** @throws KnownError TOOL_ABSENT where the release names none, BOOT_IMAGES_INVALID, and what reading the payload throws */
export async function readBootImages(release: Reference, options: ReadOptions): Promise<ReleaseBootImages> {
  const { payload, architecture } = await readPayloadFolder(release, options)
  const { version, bootImages: text } = payload
  const origin = `${bootImagesFile} of ${formatReference(release)}`
  if (text === undefined) {
    throw new KnownError('TOOL_ABSENT', `Release ${version} has no ${bootImagesFile}`, {
      details: { version },
      hint: 'Releases before 4.8 have none: take them from openshift-install, with: openshift-install coreos print-stream-json',
    })
  }
  const stream = parseCoreosStream(text, origin)
  const isMulti = payload.metadata?.more['release.openshift.io/architecture'] === 'multi'
  return {
    version,
    name: stream.name,
    // A release for several architectures names the images of all in each of its parts.
    architecture: isMulti ? undefined : coreosName(architecture),
    text: streamText(text),
    images: bootImages(stream),
  }
}

/** What stands in the ConfigMap. */
function streamText(text: string): string {
  const document: unknown = parse(text, { logLevel: 'error' })
  const data = isRecord(document) ? document['data'] : undefined
  const stream = isRecord(data) ? data['stream'] : undefined
  return typeof stream === 'string' ? stream : text
}

export interface BootImageFilter {
  /** As CoreOS writes it; absent: of all. */
  readonly architecture?: string | undefined
  readonly platform?: string | undefined
}

/** @throws KnownError USAGE where there is none, with what there is */
export function chooseBootImages({ images, name }: ReleaseBootImages, filter: BootImageFilter): readonly BootImage[] {
  const { architecture, platform } = filter
  const ofArchitecture = images.filter((image) => architecture === undefined || image.architecture === architecture)
  const chosen = ofArchitecture.filter((image) => platform === undefined || image.platform === platform)
  if (chosen.length > 0) return chosen
  const platforms = [...new Set(ofArchitecture.map((image) => image.platform))].toSorted()
  const where = architecture === undefined ? '' : ` for ${architecture}`
  throw new KnownError('USAGE', `${name} has no boot images of ${platform ?? 'any platform'}${where}`, {
    hint:
      platforms.length > 0
        ? `It has those of ${platforms.join(', ')}.`
        : `It has those for ${[...new Set(images.map((image) => image.architecture))].join(', ')}: --arch.`,
  })
}

/** `mirror.files` of an ImageSetConfiguration, to paste: the files that are to be carried. */
export function filesStanza(files: readonly BootFile[]): string {
  const entries = files.map(({ location, digest }) => `  - url: ${location}\n    sha256: ${hexOf(digest)}\n`)
  return `mirror:\n  files:\n${entries.join('')}`
}
