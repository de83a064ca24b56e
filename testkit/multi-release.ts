/** A multi payload: an index of release images that all name the same manifest lists (openshift/oc `pkg/cli/admin/release/new.go`). */

import { mediaTypes } from '../src/oci/media-type.ts'
import { type SampleImage, sampleImage } from '../src/quickstart/sample-image.ts'
import { payloadEntries } from '../src/quickstart/sample-payload.ts'
import { releaseSources } from '../src/quickstart/sample-release.ts'
import { makeIndex, makeMultiArch } from './image.ts'
import type { RepositoryContent } from './seed.ts'
import { makeLayer } from './tar.ts'

export interface MultiRelease {
  /** The index, tagged `4.18.9-multi`. */
  readonly image: SampleImage
  readonly components: readonly { readonly name: string; readonly image: SampleImage }[]
  readonly content: readonly RepositoryContent[]
}

export function makeMultiRelease(options: {
  readonly version?: string
  readonly architectures: readonly string[]
  readonly components: readonly string[]
}): MultiRelease {
  const { version = '4.18.9', architectures } = options
  const components = options.components.map((name) => ({
    name,
    image: makeMultiArch({ seed: name, architectures, mediaTypes: 'docker' }),
  }))
  const repository = `${releaseSources.registry}/${releaseSources.components}`
  const named = components.map(({ name, image }) => ({ name, reference: `${repository}@${image.digest}`, seed: name }))
  const metadata = { 'release.openshift.io/architecture': 'multi' }
  const images = architectures.map((architecture) =>
    sampleImage({
      layers: [
        makeLayer(
          payloadEntries(named, { version, metadata, manifests: { architecture } }),
          mediaTypes.dockerLayerGzip,
        ),
      ],
      mediaTypes: 'docker',
      platform: { os: 'linux', architecture },
    }),
  )
  const image = makeIndex({ children: images, mediaTypes: 'docker', tag: `${version}-multi` })
  const content = [
    { repository: releaseSources.components, images: components.map((component) => component.image) },
    { repository: releaseSources.images, images: [image] },
  ]
  return { image, components, content }
}
