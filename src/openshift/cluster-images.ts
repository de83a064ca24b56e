/**
 * The images that a cluster uses, read from its objects as `oc get … -o json` or `-o yaml` prints them.
 *
 * Source: k8s.io/api core/v1 (PodSpec, ContainerStatus, NodeStatus.images), openshift/api config/v1 ClusterVersion,
 * image/v1 ImageStream, operator-framework/api operators/v1alpha1 CatalogSource.
 */
import { parseAllDocuments } from 'yaml'
import { KnownError } from '../errors/known-error.ts'

/** An image as a cluster names it. */
export interface ClusterImage {
  /** As it stands there, without `docker-pullable://` and the like; may be no reference at all. */
  readonly name: string
  /** For people: the object that uses it. */
  readonly user: string
  /** Of a ClusterVersion: a release, whose components are then in use too. `desired` runs now, or in parts. */
  readonly release?: 'desired' | 'past'
  /** Lies on a node, which keeps images for a while after their last use. */
  readonly isCached?: true
}

/** True where a file may hold objects of a cluster: YAML or JSON with a `kind`. */
export function looksLikeObjects(text: string): boolean {
  return /^\s*"?kind"?\s*:|[{,]\s*"kind"\s*:/m.test(text)
}

/**
 * Every image of the objects in a text: documents of YAML, a JSON object, or a List of either.
 *
 * @throws KnownError CONFIG_INVALID
 */
export function parseClusterImages(text: string, file: string): readonly ClusterImage[] {
  const images = readDocuments(text, file).flatMap((document) => imagesOfObject(document))
  const unique = new Map(images.map((image) => [`${image.name} ${image.release ?? ''}`, image]))
  return [...unique.values()]
}

/** The images of one object, or of the items of a List. */
export function imagesOfObject(object: unknown): readonly ClusterImage[] {
  const { kind, items } = fields(object)
  if (Array.isArray(items)) {
    // `oc get pods -o json` prints a List of objects with kinds; the API server's own lists leave them out.
    const inner = typeof kind === 'string' ? kind.replace(/List$/, '') : ''
    return items.flatMap((item) => imagesOfObject(fields(item)['kind'] === undefined ? withKind(item, inner) : item))
  }
  if (kind === 'ClusterVersion') return imagesOfVersion(object)
  const names = namesOf(String(kind), object).filter((name) => typeof name === 'string' && name !== '')
  const cached = kind === 'Node' ? ({ isCached: true } as const) : {}
  return names.map((name) => ({ name: withoutScheme(String(name)), user: userOf(object), ...cached }))
}

function readDocuments(text: string, file: string): unknown[] {
  if (/^\s*\{/.test(text)) {
    try {
      return [JSON.parse(text)]
    } catch (error) {
      throw invalid(file, String(error))
    }
  }
  const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'error' })
  if (!Array.isArray(documents)) return []
  return documents.map((document) => {
    const [broken] = document.errors
    if (broken) throw invalid(file, broken.message)
    try {
      return document.toJS() as unknown
    } catch (error) {
      throw error instanceof ReferenceError ? invalid(file, error.message) : error
    }
  })
}

function imagesOfVersion(object: unknown): ClusterImage[] {
  const { desired, history } = fields(fields(object)['status'])
  const entries = list(history).map(fields)
  // Newest first: until an update is completed, the last one that was still runs in parts.
  const completed = entries.findIndex(({ state }) => state === 'Completed')
  const all = [
    { name: fields(desired)['image'], release: 'desired' as const },
    ...entries.map(({ image }, index) => ({
      name: image,
      release: completed < 0 || index <= completed ? ('desired' as const) : ('past' as const),
    })),
  ]
  return all.flatMap(({ name, release }) =>
    typeof name === 'string' && name !== '' ? [{ name: withoutScheme(name), user: userOf(object), release }] : [],
  )
}

function namesOf(kind: string, object: unknown): unknown[] {
  const { spec, status } = fields(object)
  if (kind === 'Node') return list(fields(status)['images']).flatMap((image) => list(fields(image)['names']))
  if (kind === 'CatalogSource') return [fields(spec)['image']]
  if (kind === 'ClusterCatalog') return [fields(fields(fields(spec)['source'])['image'])['ref']]
  if (kind === 'ImageStream') return streamNames(spec, status)
  return [...podNames(templateOf(kind, spec)), ...statusNames(status)]
}

/** The pod that an object makes, or is. */
function templateOf(kind: string, spec: unknown): unknown {
  if (kind === 'CronJob') return templateOf('Job', fields(fields(spec)['jobTemplate'])['spec'])
  return fields(fields(spec)['template'])['spec'] ?? spec
}

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'] as const

function podNames(spec: unknown): unknown[] {
  const containers = containerLists.flatMap((part) => list(fields(spec)[part]))
  const volumes = list(fields(spec)['volumes']).map((volume) => fields(fields(volume)['image'])['reference'])
  return [...containers.map((container) => fields(container)['image']), ...volumes]
}

function statusNames(status: unknown): unknown[] {
  const parts = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']
  const statuses = parts.flatMap((part) => list(fields(status)[part]))
  return statuses.flatMap((one) => [fields(one)['image'], fields(one)['imageID']])
}

function streamNames(spec: unknown, status: unknown): unknown[] {
  const from = list(fields(spec)['tags'])
    .map((tag) => fields(fields(tag)['from']))
    .filter(({ kind }) => kind === 'DockerImage')
  const history = list(fields(status)['tags']).flatMap((tag) => list(fields(tag)['items']))
  return [...from.map(({ name }) => name), ...history.map((item) => fields(item)['dockerImageReference'])]
}

function userOf(object: unknown): string {
  const { kind, metadata } = fields(object)
  const { name, namespace } = fields(metadata)
  return `${kind} ${typeof namespace === 'string' ? `${namespace}/` : ''}${name}`
}

/** `docker-pullable://`, `cri-o://`, `docker://`: how container runtimes introduce an image. */
function withoutScheme(name: string): string {
  return name.replace(/^[a-z-]+:\/\//, '')
}

function withKind(item: unknown, kind: string): unknown {
  return { ...fields(item), kind }
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function invalid(file: string, why: string): KnownError {
  return new KnownError('CONFIG_INVALID', `${file}: objects of a cluster cannot be read from it: ${why}`, {
    details: { file },
    hint: 'Write the file anew: oc get pods,nodes,clusterversion,catalogsources,imagestreams -A -o json > FILE',
  })
}
