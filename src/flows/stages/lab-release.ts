/** The release that the outside of a lab has. */
import { type SampleRelease, sampleRelease } from '../../quickstart/sample-release.ts'
import { sampleTools } from './sample-tools.ts'

export const labVersion = '4.18.9'

export function labRelease(): SampleRelease {
  return sampleRelease({ seed: 'lab', version: labVersion, componentFiles: sampleTools })
}

/** Bytes of all its images, each blob once: what is moved, and kept at each place. */
export function labReleaseBytes(): number {
  const { components, image } = labRelease()
  const images = [image, ...components.map((component) => component.image)]
  const sizes = new Map(
    images.flatMap(({ blobs }) => blobs.map(({ descriptor }) => [descriptor.digest, descriptor.size] as const)),
  )
  return [...sizes.values()].reduce((all, bytes) => all + bytes, 0)
}
