/** Images and plans that are made up: no registry has seen them. */
import fc from 'fast-check'
import type { ResolvedImage, ResolvedManifest } from '../src/mirror/closure.ts'
import { type MirrorPlan, planMirror } from '../src/mirror/plan.ts'
import { digestOf } from '../src/oci/digest.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { parseReference } from '../src/oci/reference.ts'

/** The same layer name is the same blob, the same name with the same layers the same image. */
export interface ImageSpec {
  readonly name: string
  readonly layers: readonly string[]
  /** Makes it an index over one image for each architecture, of the same layers. */
  readonly architectures?: readonly string[]
  readonly isSigned?: boolean
  readonly isPresent?: boolean
}

function manifestOf(name: string, layers: readonly string[]): ResolvedManifest {
  const blobs = [...new Set(layers)].map((layer) => {
    return { mediaType: mediaTypes.ociLayerGzip, digest: digestOf(layer), size: layer.length * 100 }
  })
  const digest = digestOf(`manifest of ${name}: ${layers.join()}`)
  return { descriptor: { mediaType: mediaTypes.ociManifest, digest, size: 500 }, blobs, children: [] }
}

function indexOver(name: string, children: readonly ResolvedManifest[]): ResolvedManifest {
  const digests = children.map(({ descriptor }) => descriptor.digest)
  const digest = digestOf(`index ${name}: ${digests.join()}`)
  return { descriptor: { mediaType: mediaTypes.ociIndex, digest, size: 300 }, blobs: [], children: digests }
}

/** The image, and its signature after it. */
export function resolvedImages(spec: ImageSpec, target: string): ResolvedImage[] {
  const { name, layers, architectures = [], isSigned } = spec
  const children = architectures.map((one) => manifestOf(`${name} ${one}`, [...layers, one]))
  const root = children.length > 0 ? indexOver(name, children) : manifestOf(name, layers)
  const { digest } = root.descriptor
  const source = parseReference(`quay.io/team/${name}@${digest}`)
  const destination = parseReference(`${target}/${name}:v1`)
  const selected = { source, class: 'additional', destination, why: `additionalImages ${name}` } as const
  const image: ResolvedImage = { selected, digest, manifests: [...children, root] }
  if (!isSigned) return [image]
  const signature = manifestOf(`signature of ${name}`, [`signature ${name}`])
  const tag = digest.replace(':', '-').concat('.sig')
  const { digest: signed } = signature.descriptor
  const attached: ResolvedImage = {
    selected: {
      source: { ...parseReference(`quay.io/team/${name}:${tag}`), digest: signed },
      class: 'additional',
      destination: parseReference(`${target}/${name}:${tag}`),
      why: `signature of ${digest}`,
    },
    digest: signed,
    manifests: [signature],
    attachedTo: digest,
  }
  return [image, attached]
}

export function planOf(specs: readonly ImageSpec[], target = 'mirror.lab/ocp'): MirrorPlan {
  const images = specs.map((spec) => ({ spec, resolved: resolvedImages(spec, target) }))
  const present = new Set(images.filter(({ spec }) => spec.isPresent).flatMap(({ resolved }) => resolved))
  return planMirror(
    target,
    images.flatMap(({ resolved }) => resolved),
    (image) => present.has(image),
  )
}

/** Up to eight images that share layers, some with several architectures, a signature, or at the target already. */
export const anyImageSpecs: fc.Arbitrary<ImageSpec[]> = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z]{1,6}(\/[a-z]{1,3})?$/),
    layers: fc.array(fc.stringMatching(/^[a-f]{1,3}$/), { maxLength: 5 }),
    architectures: fc.subarray(['amd64', 'arm64', 's390x']),
    isSigned: fc.boolean(),
    isPresent: fc.boolean(),
  }),
  { selector: ({ name }) => name, maxLength: 8 },
)
