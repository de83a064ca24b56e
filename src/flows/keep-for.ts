/** `--keep-for`: who uses the images of a mirror, from whatever a person has at hand. */

import { type ImageSetConfiguration, readImageSetConfiguration } from '../config/image-set-configuration.ts'
import { loadClusterAccess } from '../config/kubeconfig.ts'
import { unsupportedParts } from '../config/unsupported-parts.ts'
import { readTextFile } from '../config/yaml-document.ts'
import { KnownError } from '../errors/known-error.ts'
import { asMirrored } from '../mirror/as-mirrored.ts'
import type { MirrorTarget } from '../mirror/destination.ts'
import type { DoneImage } from '../mirror/done.ts'
import { graphImageSelected } from '../mirror/graph-image.ts'
import type { KeptImage, KeptSelection } from '../mirror/kept-images.ts'
import { selectImages } from '../mirror/select.ts'
import { selectFiles } from '../mirror/select-files.ts'
import type { SelectOptions } from '../mirror/select-release.ts'
import type { SelectedImage } from '../mirror/selection.ts'
import { parseReference, type Reference } from '../oci/reference.ts'
import { type ClusterImage, imagesOfObject, looksLikeObjects, parseClusterImages } from '../openshift/cluster-images.ts'
import { listObjects } from '../remote/cluster-api.ts'
import { parseImageList } from './verify.ts'

export interface KeepSources {
  readonly images: readonly KeptImage[]
  readonly selections: readonly KeptSelection[]
}

export interface KeepForContext extends SelectOptions {
  readonly target: MirrorTarget
  /** What the workspace knows to be at the target. */
  readonly recorded: readonly DoneImage[]
}

/** What the API of a cluster is asked for; who may not read one of them must not be told that nothing is in use. */
const clusterLists = [
  '/api/v1/pods',
  '/api/v1/nodes',
  '/apis/apps/v1/deployments',
  '/apis/apps/v1/daemonsets',
  '/apis/apps/v1/statefulsets',
  '/apis/batch/v1/cronjobs',
  '/apis/config.openshift.io/v1/clusterversions',
  '/apis/operators.coreos.com/v1alpha1/catalogsources',
  '/apis/olm.operatorframework.io/v1/clustercatalogs',
  '/apis/image.openshift.io/v1/imagestreams',
] as const

/**
 * @param places each an ImageSetConfiguration, a list of images, objects of a cluster as YAML or JSON, or
 *   `kubeconfig:FILE`
 * @throws KnownError FILE_UNREADABLE, CONFIG_INVALID, KUBECONFIG_INVALID, CLUSTER_UNREADABLE
 */
export async function readKeepFor(places: readonly string[], context: KeepForContext): Promise<KeepSources> {
  const images: KeptImage[] = []
  const selections: KeptSelection[] = []
  for (const place of places) {
    const kubeconfig = /^kubeconfig:(.+)$/.exec(place)?.[1]
    if (kubeconfig !== undefined) {
      images.push(...requireSome(place, keptOf(await readCluster(kubeconfig, context.signal), kubeconfig)))
      continue
    }
    const text = await readTextFile(place)
    const kind = /^"?kind"?\s*:\s*"?(\w+)/m.exec(text)?.[1] ?? /"kind"\s*:\s*"(\w+)"/.exec(text)?.[1]
    if (kind === 'ImageSetConfiguration') selections.push(await selectionOf(place, text, context))
    else if (kind === 'DeleteImageSetConfiguration' || kind === 'DeleteImageList') throw namesDeletions(place, kind)
    else if (looksLikeObjects(text)) images.push(...requireSome(place, keptOf(parseClusterImages(text, place), place)))
    else
      images.push(
        ...requireSome(
          place,
          parseImageList(text).map((reference) => ({ reference, user: place })),
        ),
      )
  }
  return { images, selections }
}

async function selectionOf(file: string, text: string, context: KeepForContext): Promise<KeptSelection> {
  const loaded = readImageSetConfiguration({ file, text })
  const [part] = unsupportedParts(loaded)
  if (part) throw selectsMore(file, part.summary)
  const { platform, files = [] } = loaded.configuration.mirror
  const { target } = context
  const selected = await selectImages(loaded.configuration, target, context)
  const { images: named, blocked, unreadable, bootFiles } = selected
  const carried = await selectFiles(files, { target, cwd: '', bootImages: bootFiles })
  const graph = platform?.graph ? [graphImageSelected(target)] : []
  const images = [...named, ...carried.images, ...graph, ...recordedOf(loaded.configuration, file, context)]
  const both = [...images, ...asMirrored(images, context.recorded)]
  const selection = { user: file, images: both, unreadable: unreadable.map(({ image }) => image.source) }
  if (images.length + blocked.length + unreadable.length === 0) throw namesNothing(file)
  return selection
}

/**
 * Which images operators and charts need, only their catalogs and repositories tell. So whatever this workspace mirrored of
 * such a class is kept, rather more than needed.
 */
function recordedOf(
  { mirror: { operators, helm } }: ImageSetConfiguration,
  file: string,
  { recorded }: KeepForContext,
): SelectedImage[] {
  const classes = { operator: operators.length > 0, helm: helm !== undefined }
  return (['operator', 'helm'] as const).flatMap((name) => {
    if (!classes[name]) return []
    const images = recorded.filter((image) => image.class === name)
    if (images.length === 0) throw selectsMore(file, `nothing of the class ${name} was mirrored with this workspace`)
    return images.map(({ source, destination, why }): SelectedImage => {
      return { source: parseReference(source), destination: parseReference(destination), class: name, why }
    })
  })
}

async function readCluster(path: string, signal: AbortSignal): Promise<readonly ClusterImage[]> {
  const access = await loadClusterAccess(path)
  const images: ClusterImage[] = []
  for (const list of clusterLists) {
    for await (const page of listObjects(access, list, { signal })) images.push(...imagesOfObject(page))
  }
  return images
}

/**
 * What is no reference (a bare image id, `<none>`) names nothing that could be pulled. A release that ran once is not in
 * use for that, nor are the components of one that a node still has: what they need, pods and nodes name by itself.
 */
function keptOf(images: readonly ClusterImage[], place: string): KeptImage[] {
  return images.flatMap(({ name, user, release, isCached }) => {
    const reference = release === 'past' ? undefined : readName(name)
    const isRelease = release === 'desired' ? true : isCached ? false : undefined
    return reference ? [{ reference, user: `${user} (${place})`, ...(isRelease !== undefined && { isRelease }) }] : []
  })
}

function readName(name: string): Reference | undefined {
  try {
    return parseReference(name)
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'REFERENCE_INVALID') throw error
    return undefined
  }
}

/** A file that was meant to protect something and names nothing is a mistake to be told before anything is deleted. */
function requireSome(place: string, images: readonly KeptImage[]): readonly KeptImage[] {
  if (images.length === 0) throw namesNothing(place)
  return images
}

function namesNothing(place: string): KnownError {
  return new KnownError('CONFIG_INVALID', `--keep-for ${place} names no image: nothing would be kept for it`, {
    details: { file: place },
    hint: 'Give an ImageSetConfiguration, a list of images, kubeconfig:FILE, or objects of the cluster: oc get pods,nodes,clusterversion -A -o json > FILE',
  })
}

function selectsMore(file: string, part: string): KnownError {
  return new KnownError('CONFIG_INVALID', `--keep-for ${file} selects images that are not known here: ${part}`, {
    details: { file },
    hint: 'Give those images as a list of names (the mapping.txt of a dry run is one), or the objects of the clusters that use them.',
  })
}

function namesDeletions(place: string, kind: string): KnownError {
  return new KnownError(
    'CONFIG_INVALID',
    `--keep-for ${place} is a ${kind}: it says what to delete, not what to keep`,
    {
      details: { file: place },
      hint: 'Name the ImageSetConfiguration of the images that must stay, and nothing is deleted that it selects.',
    },
  )
}
