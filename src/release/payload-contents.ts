/** From a release image to what it is made of: read where it lies, proven, and nothing is kept. */
import type { Reference } from '../oci/reference.ts'
import { formatReference } from '../oci/reference.ts'
import type { ReleaseComponent } from '../openshift/release-payload.ts'
import { describeComponent, readComponents } from './component-images.ts'
import { type PayloadImage, type ReadOptions, readReleaseImage } from './payload-image.ts'
import { contentsOf, type ReleaseContents } from './release-contents.ts'

export interface ContentsOptions extends ReadOptions {
  /** Ask for the image of each component: what it weighs, and whether it is there at all. */
  readonly withImages: boolean
}

/**
 * A component that is missing is told in its entry, and stops none of the others.
 *
 * @throws KnownError as `readReleaseImage`
 */
export async function readReleaseContents(reference: Reference, options: ContentsOptions): Promise<ReleaseContents> {
  const release = await readReleaseImage(reference, options)
  const named = componentsOf(release.images)
  const components = options.withImages ? await readComponents(reference, named, options) : named.map(describeComponent)
  return contentsOf(reference, release, components)
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
