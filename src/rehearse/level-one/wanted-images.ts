/**
 * Every image that a bootstrap of this config leads to: what its own scripts ask for, what static pods of its host run, and what
 * the release brings for nodes.
 */
import type { KnownError } from '../../errors/known-error.ts'
import { formatReference, type Reference } from '../../oci/reference.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { Evidence } from '../../openshift/bootstrap/bootstrap-file.ts'
import { scriptImages } from '../../openshift/bootstrap/script-images.ts'
import type { ReleasePayload } from '../../openshift/release-payload.ts'
import { bootstrapImages } from '../../release/bootstrap-images.ts'
import type { ImageUse, Side } from './level-one-report.ts'

export interface WantedImage {
  readonly name: string
  readonly reference: string
  readonly use: ImageUse
  readonly isOptional: boolean
  readonly evidence: readonly Evidence[]
  readonly sides: readonly Side[]
}

/** A name that a script asks the release for, and that the release does not have. */
export interface AbsentComponent {
  readonly name: string
  readonly isOptional: boolean
  readonly evidence: readonly Evidence[]
}

export interface WantedImages {
  readonly images: readonly WantedImage[]
  readonly absent: readonly AbsentComponent[]
  /** Questions whose name cannot be read from the script. */
  readonly unresolved: readonly { readonly text: string; readonly at: Evidence }[]
}

/** @param payload undefined where the release could not be read: then only what the config itself names is known */
export function wantedImages(bootstrap: BootstrapConfig, payload: ReleasePayload | undefined): WantedImages {
  const { images: asked, literals, unresolved } = scriptImages(bootstrap)
  const references = new Map(payload?.components.map(({ name, reference }) => [name, reference]))
  const here = asked.flatMap(({ name, isOptional, evidence }): readonly WantedImage[] => {
    const reference = references.get(name)
    return reference === undefined ? [] : [component({ name, reference, use: 'script', isOptional, evidence })]
  })
  const known = new Set(here.map(({ name }) => name))
  const pods = staticPods(bootstrap, payload).flatMap((name) => {
    const reference = references.get(name)
    return known.has(name) || reference === undefined
      ? []
      : [component({ name, reference, use: 'static-pod', isOptional: false, evidence: [] })]
  })
  for (const { name } of pods) known.add(name)
  const others = [...references].flatMap(([name, reference]) =>
    known.has(name) ? [] : [component({ name, reference, use: 'payload', isOptional: false, evidence: [] })],
  )
  const named = literals.map(
    ({ text, evidence }): WantedImage => ({
      name: text,
      reference: text,
      use: 'named',
      isOptional: true,
      evidence,
      sides: ['bootstrap'],
    }),
  )
  return {
    images: [...releaseOf(bootstrap), ...here, ...pods, ...named, ...others],
    absent: payload === undefined ? [] : asked.filter(({ name }) => !references.has(name)),
    unresolved,
  }
}

function releaseOf({ releaseImage }: BootstrapConfig): readonly WantedImage[] {
  if (releaseImage === undefined) return []
  const { text, evidence } = releaseImage
  const sides = ['bootstrap', 'nodes'] as const
  return [{ name: 'release image', reference: text, use: 'release', isOptional: false, evidence, sides }]
}

function component(parts: Omit<WantedImage, 'reference' | 'sides'> & { readonly reference: Reference }): WantedImage {
  const sides: readonly Side[] = parts.use === 'payload' ? ['nodes'] : ['bootstrap', 'nodes']
  return { ...parts, reference: formatReference(parts.reference), sides }
}

/** What the platform adds to the static pods of the host: nothing where somebody else balances the load. */
function staticPods({ cluster }: BootstrapConfig, payload: ReleasePayload | undefined): readonly string[] {
  const { platform } = cluster
  if (payload === undefined || platform === undefined) return []
  const without = new Set(bootstrapImages(payload.version).names)
  return bootstrapImages(payload.version, { platform }).names.filter((name) => !without.has(name))
}

/** Where the answer of `release()` is an error, there is no payload. */
export function payloadOf<T extends object>(release: { readonly payload: T } | KnownError): T | undefined {
  return 'payload' in release ? release.payload : undefined
}
