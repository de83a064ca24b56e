/**
 * The images in rendered manifests: those of every pod template, wherever it stands, and those that JSONPaths lead to.
 *
 * A pod template is known by its lists of containers, not by the kind of document that holds it, so that the jobs of a
 * CronJob, the items of a List and the resources of operators are found too.
 *
 * Source: kubernetes.io, API reference of PodSpec.
 */
import { parseAllDocuments } from 'yaml'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { parseReference, type Reference } from '../oci/reference.ts'
import { evaluateJsonPath, formatKeys, type JsonPath } from '../openshift/json-path.ts'

export interface FoundImage {
  /** With `latest` where neither tag nor digest is written. */
  readonly reference: Reference
  /** For people: `Deployment of podinfo/templates/deployment.yaml, spec.template.spec.containers[0].image`. */
  readonly place: string
}

export interface FoundImages {
  /** Each image once, with the first place that names it, in the order of the documents. */
  readonly images: readonly FoundImage[]
  /** What stands where an image should, and is none. */
  readonly findings: readonly Finding[]
}

export interface FindOptions {
  /** What is searched, for messages: `chart podinfo 6.0.0`. */
  readonly origin: string
  /** More places of images than those of pod templates. */
  readonly imagePaths?: readonly JsonPath[]
}

/**
 * Searches the YAML documents of `text`.
 *
 * @throws KnownError HELM_FAILED where they are no YAML
 */
export function findImages(text: string, { origin, imagePaths = [] }: FindOptions): FoundImages {
  const named = documentsOf(text, origin).flatMap(({ document, template }) => {
    const about = describeDocument(document, template)
    return [...namesIn(document), ...imagePaths.flatMap((path) => namesAt(document, path))].map((name) => ({
      ...name,
      place: `${about}, ${name.path}`,
    }))
  })
  const images = new Map<string, FoundImage>()
  const findings = new Map<string, Finding>()
  const others = new Map<JsonPath, string[]>()
  for (const name of named) {
    const { text, place, beside } = name
    const read = readName(name, origin)
    if (read && 'registry' in read) {
      if (!images.has(text)) images.set(text, { reference: read, place })
    } else if (read) findings.set(read.summary, read)
    else if (beside) others.set(beside, [...(others.get(beside) ?? []), place])
  }
  const told = [...others].map(([path, places]) => noImages(path, places, origin))
  return { images: [...images.values()], findings: [...findings.values(), ...told] }
}

/** Not the values themselves: among those of environment variables may be secrets. */
function noImages({ text }: JsonPath, places: readonly string[], origin: string): Finding {
  const some = `${places.slice(0, 3).join('; ')}${places.length > 3 ? ` and ${places.length - 3} more places` : ''}`
  return finding({
    id: 'chart.no-image',
    severity: 'info',
    summary: `${origin}: ${text} also leads to ${places.length === 1 ? 'a value that is no image' : `${places.length} values that are no images`}: ${some}`,
    remedy: 'If one of them is an image, name it in additionalImages.',
  })
}

interface ImageName {
  readonly text: string
  readonly path: string
  /** The JSONPath that found it, where that may lead to other things too. */
  readonly beside?: JsonPath
}

/** Values of environment variables and annotations are seldom images, and `true` would be one of Docker Hub. */
function namesAt(document: unknown, jsonPath: JsonPath): ImageName[] {
  return evaluateJsonPath(jsonPath, document).flatMap(({ path, value }) => {
    const texts = Array.isArray(value) ? value : [value]
    const doubt = /image[^.]*$/i.test(path) ? {} : { beside: jsonPath }
    return texts.flatMap((text) => (typeof text === 'string' ? [{ text, path, ...doubt }] : []))
  })
}

const containerLists = new Set(['containers', 'initContainers', 'ephemeralContainers'])

function namesIn(document: unknown): ImageName[] {
  // Its schema has fields of these names, and no images.
  if (isObject(document) && document['kind'] === 'CustomResourceDefinition') return []
  return [...podImages(document, [])]
}

function* podImages(node: unknown, keys: readonly (string | number)[]): Generator<ImageName> {
  if (Array.isArray(node)) {
    for (const [index, one] of node.entries()) yield* podImages(one, [...keys, index])
    return
  }
  if (!isObject(node)) return
  for (const [key, value] of Object.entries(node)) {
    const own = [...keys, key]
    if (Array.isArray(value) && containerLists.has(key)) yield* listed(value, own, ['image'])
    if (Array.isArray(value) && key === 'volumes') yield* listed(value, own, ['image', 'reference'])
    yield* podImages(value, own)
  }
}

/** The image of each item: of a container, or of a volume that is made of an image. */
function* listed(items: readonly unknown[], keys: readonly (string | number)[], field: readonly string[]) {
  for (const [index, item] of items.entries()) {
    const text = field.reduce<unknown>((node, name) => (isObject(node) ? node[name] : undefined), item)
    if (typeof text === 'string') yield { text, path: formatKeys([...keys, index, ...field]) }
  }
}

/** Undefined for what nobody said is an image. */
function readName(
  { text, place, beside }: ImageName & { place: string },
  origin: string,
): Reference | Finding | undefined {
  const name = text.trim().replace(/^docker:\/\//, '')
  if (beside && !/[/:@]/.test(name)) return undefined
  if (name === 'auto')
    return finding({
      id: 'chart.image-injected',
      severity: 'info',
      summary: `${origin}: ${place} is "auto": a mutating webhook, as Istio's, puts an image there when the pod is made`,
      remedy:
        'Mirror the image of that webhook with additionalImages, if the chart that brings it is not in the image set.',
    })
  try {
    const reference = parseReference(name)
    return reference.tag === undefined && reference.digest === undefined ? { ...reference, tag: 'latest' } : reference
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    if (beside) return undefined
    return finding({
      id: 'chart.image-invalid',
      severity: 'warning',
      summary: `${origin}: ${place}: ${error.message}`,
      remedy: 'Give the chart the values that it needs with values: [FILE], or name the image in additionalImages.',
    })
  }
}

interface Rendered {
  readonly document: unknown
  /** The template that it comes from, as Helm writes it above: `podinfo/templates/deployment.yaml`. */
  readonly template?: string | undefined
}

function documentsOf(text: string, origin: string): Rendered[] {
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: 'silent' })
  if (!Array.isArray(documents)) return []
  return documents.flatMap((parsed) => {
    const comments = `${parsed.commentBefore ?? ''}\n${parsed.contents?.commentBefore ?? ''}`
    const template = /^ ?Source: (\S+)$/m.exec(comments)?.[1]
    const [error] = parsed.errors
    if (error) {
      const where = template === undefined ? origin : `${origin}, ${template}`
      throw new KnownError('HELM_FAILED', `${where}: what it renders to is no YAML: ${error.message}`, {
        details: { origin, template },
        hint: 'The template of this chart is broken, or it needs other values: render it with helm template, and give them with values: [FILE].',
      })
    }
    const value: unknown = parsed.toJS({ maxAliasCount: 1000 })
    return value === null || value === undefined ? [] : itemsOf(value).map((document) => ({ document, template }))
  })
}

/** A List stands for its items, so that JSONPaths begin at each of them. */
function itemsOf(document: unknown): unknown[] {
  if (!isObject(document) || !/List$/.test(String(document['kind'])) || !Array.isArray(document['items']))
    return [document]
  return document['items'].flatMap(itemsOf)
}

/** The template where it is known: names may have a part that is another one each time. */
function describeDocument(document: unknown, template: string | undefined): string {
  const [kind, metadata] = isObject(document) ? [document['kind'], document['metadata']] : []
  const what = typeof kind === 'string' ? kind : 'a document without kind'
  if (template !== undefined) return `${what} of ${template}`
  const name = isObject(metadata) ? (metadata['name'] ?? metadata['generateName']) : undefined
  return typeof name === 'string' ? `${what} ${name}` : what
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
