/** From a release image to what it is made of: read where it lies, proven, and nothing is kept. */

import { KnownError } from '../errors/known-error.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import type { ReleaseComponent } from '../openshift/release-payload.ts'
import { describeComponent, readComponents } from './component-images.ts'
import { type PayloadImage, type ReadOptions, readReleaseImage } from './payload-image.ts'
import { type ContentsComponent, contentsOf, type ReleaseContents } from './release-contents.ts'

export interface ContentsOptions extends ReadOptions {
  /** Ask for the image of each component, or of some: what it weighs, and whether it is there at all. */
  readonly withImages: boolean | ((name: string, version: string) => boolean)
  /** Tells of content that should be where the release is and is not: a hole of an archive. */
  readonly isMissing?: ((digest: Digest) => boolean) | undefined
}

/**
 * A component that is missing is told in its entry, and stops none of the others.
 *
 * @throws KnownError as `readReleaseImage`
 */
export async function readReleaseContents(reference: Reference, options: ContentsOptions): Promise<ReleaseContents> {
  const release = await readReleaseImage(reference, options)
  const named = componentsOf(release.images)
  const { withImages, isMissing } = options
  const { version } = release.images[0].payload
  const isWanted = ({ name }: ReleaseComponent) =>
    typeof withImages === 'boolean' ? withImages : withImages(name, version)
  const components = [
    ...(await readComponents(reference, named.filter(isWanted), options)),
    ...named.filter((component) => !isWanted(component)).map(describeComponent),
  ]
  return contentsOf(reference, release, isMissing ? components.map((one) => withHoles(one, isMissing)) : components)
}

/** What a component weighs is known; that a part of it is missing is a problem all the same. */
function withHoles(component: ContentsComponent, isMissing: (digest: Digest) => boolean): ContentsComponent {
  const blobs = component.image?.blobs ?? []
  const missing = blobs.filter(({ digest }) => isMissing(digest))
  if (missing.length === 0) return component
  const bytes = missing.reduce((sum, { size }) => sum + size, 0)
  const { code, message, hint } = new KnownError(
    'ARCHIVE_INCOMPLETE',
    `${component.name}: ${missing.length} of its ${blobs.length} blobs, ${bytes} bytes, are missing in the archives`,
  )
  return { ...component, problem: { code, message, hint } }
}

/**
 * Of a multi payload those that any of its images names: they are the same manifest lists in each. Where one differs, its
 * name says for which architecture it is.
 */
function componentsOf(images: readonly PayloadImage[]): readonly ReleaseComponent[] {
  const known = new Map<string, string>()
  return images.flatMap(({ payload, architecture }) =>
    payload.components.flatMap((component): ReleaseComponent[] => {
      const pullspec = formatReference(component.reference)
      const other = known.get(component.name)
      if (other === pullspec) return []
      if (other === undefined) known.set(component.name, pullspec)
      return [other === undefined ? component : { ...component, name: `${component.name} (${architecture})` }]
    }),
  )
}
