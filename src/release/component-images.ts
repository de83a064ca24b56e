/**
 * The images of the components of a release, wherever they are.
 *
 * The payload names them at quay.io, also when the release was read from a mirror: there they lie beside it, under the names
 * that oc-mirror v2 gives (openshift/oc-mirror `internal/pkg/release/local_stored_collector.go`) or, as
 * `oc adm release mirror` has it, in the same repository.
 */
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { blobsOf, childrenOf, type Manifest, parseManifest } from '../oci/manifest.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { ReleaseComponent } from '../openshift/release-payload.ts'
import type { ReadOptions } from './payload-image.ts'
import {
  type ContentsComponent,
  type ContentsProblem,
  type StoredImage,
  sourceOf,
  storedImage,
} from './release-contents.ts'

/** Requests at a time. */
const concurrency = 16

/** Each component with its image, or with the reason why it has none; one that is missing stops none of the others. */
export async function readComponents(
  release: Reference,
  components: readonly ReleaseComponent[],
  options: ReadOptions,
): Promise<readonly ContentsComponent[]> {
  const reader = new ComponentReader(release, options)
  return mapConcurrently(components, concurrency, async (component) => ({
    ...describeComponent(component),
    ...(await reader.read(component)),
  }))
}

/** What the payload alone says of a component. */
export function describeComponent(component: ReleaseComponent): ContentsComponent {
  const source = sourceOf(component)
  return { name: component.name, reference: component.reference, ...(source && { source }) }
}

type Found = { readonly image: StoredImage } | { readonly problem: ContentsProblem }

class ComponentReader {
  readonly #release: Reference
  readonly #options: ReadOptions
  /** By registry: what is wrong with it, so that it is not asked again for each component. */
  readonly #broken = new Map<string, KnownError>()

  constructor(release: Reference, options: ReadOptions) {
    this.#release = release
    this.#options = options
  }

  async read(component: ReleaseComponent): Promise<Found> {
    const places = placesOf(this.#release, component.reference)
    const failures: KnownError[] = []
    const without: Reference[] = []
    for (const place of places) {
      try {
        const image = await this.#readAt(place)
        if (image) return { image }
        without.push(place)
      } catch (error) {
        if (!(error instanceof KnownError) || error.code === 'INTERRUPTED') throw error
        failures.push(error)
      }
    }
    // An archive that was to have it knows best why it has not.
    const hole = failures.find(({ code }) => code === 'ARCHIVE_INCOMPLETE')
    const first = hole ?? (without.length === 0 ? failures[0] : undefined)
    const failure = first ?? absentFrom(component, without, failures)
    return { problem: { code: failure.code, message: failure.message, hint: failure.hint } }
  }

  async #readAt(place: Reference): Promise<StoredImage | undefined> {
    const broken = this.#broken.get(place.registry)
    if (broken) throw broken
    try {
      return await readStoredImage(place, this.#options)
    } catch (error) {
      if (error instanceof KnownError && hostFailures.has(error.code)) this.#broken.set(place.registry, error)
      throw error
    }
  }
}

const hostFailures: ReadonlySet<string> = new Set(['REGISTRY_UNREACHABLE', 'REGISTRY_TLS', 'REGISTRY_BLOCKED'])

/** Undefined where there is no such image. */
async function readStoredImage(place: Reference, options: ReadOptions): Promise<StoredImage | undefined> {
  const { source, signal, architecture } = options
  const raw = await source.fetchManifest(place, signal)
  if (!raw) return undefined
  const name = formatReference(place)
  const root = parseManifest(raw.bytes, raw.descriptor.mediaType, name)
  const children = childrenOf(root).filter(
    ({ platform }) => platform?.os !== 'unknown' && isOf(architecture, platform?.architecture),
  )
  const manifests = await mapConcurrently(children, 4, async ({ digest }): Promise<Manifest> => {
    const child = await source.fetchManifest({ registry: place.registry, repository: place.repository, digest }, signal)
    if (!child) throw new KnownError('MANIFEST_UNKNOWN', `${name}: ${digest}, which its index names, is not there`)
    return parseManifest(child.bytes, child.descriptor.mediaType, `${repositoryName(place)}@${digest}`)
  })
  const images = [root, ...manifests]
  const layers = new Set(
    images.flatMap((image) => (image.kind === 'image' ? image.layers : [])).map((one) => one.digest),
  )
  return storedImage({
    digest: raw.descriptor.digest,
    place: repositoryName(place),
    blobs: images.flatMap(blobsOf),
    layers: layers.size,
  })
}

function isOf(wanted: string | undefined, architecture: string | undefined): boolean {
  return wanted === undefined || wanted === 'multi' || architecture === undefined || architecture === wanted
}

const mirroredRelease = /(^|[/-])openshift([/-])release-images$/

/** Where an image of a release may be, the likeliest first. */
export function placesOf({ registry, repository }: Reference, component: Reference): readonly Reference[] {
  if (component.digest === undefined) return [component]
  const { digest } = component
  const own = { registry, repository, digest }
  if (mirroredRelease.test(repository)) {
    return [
      { registry, repository: repository.replace(mirroredRelease, '$1openshift$2release'), digest },
      own,
      component,
    ]
  }
  return registry === component.registry ? [component, own] : [own, component]
}

/** @param failures of places that could not be asked */
function absentFrom(
  { name, reference }: ReleaseComponent,
  places: readonly Reference[],
  failures: readonly KnownError[],
): KnownError {
  const asked = [...new Set(places.map(repositoryName))]
  const where = asked.length > 1 ? `neither in ${asked.join(' nor in ')}` : `not in ${asked[0]}`
  const what = reference.digest ?? formatReference(reference)
  const also = failures.map(({ message }) => `; ${message}`).join('')
  return new KnownError('MANIFEST_UNKNOWN', `${name}: ${what} is ${where}${also}`, {
    details: { component: name, image: formatReference(reference) },
    hint: 'Mirror the release again; where it is mirrored, sallyport verify mirror tells what is missing.',
    cause: failures[0],
  })
}
