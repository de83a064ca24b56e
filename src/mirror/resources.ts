/**
 * The cluster resources that redirect a cluster to a mirror.
 *
 * File names, object names and scopes are those of oc-mirror v2 (openshift/oc-mirror
 * `internal/pkg/clusterresources/clusterresources.go`); unlike there, entries are sorted, carry no time stamp, and keep
 * what an earlier run wrote.
 */
import { join } from 'node:path'
import { type Reference, repositoryName } from '../oci/reference.ts'
import {
  type ImageMirrorSet,
  type MirrorSetKind,
  mergeImageMirrorSets,
  parseImageMirrorSets,
  renderImageMirrorSets,
} from '../openshift/image-mirror-set.ts'
import { tagFor } from './destination.ts'
import { isMade } from './made-content.ts'
import type { ContentClass, SelectedImage } from './selection.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

const files: Record<MirrorSetKind, string> = {
  ImageDigestMirrorSet: 'idms-oc-mirror.yaml',
  ImageTagMirrorSet: 'itms-oc-mirror.yaml',
  ImageContentSourcePolicy: 'imageContentSourcePolicy.yaml',
}

const prefixes: Record<MirrorSetKind, string> = {
  ImageDigestMirrorSet: 'idms',
  ImageTagMirrorSet: 'itms',
  ImageContentSourcePolicy: 'icsp',
}

/** Pure: the mirror sets for these images; none for those that are made here, since nothing names them, and for catalogs. `icsp` adds ImageContentSourcePolicy, for clusters before 4.13. */
export function mirrorSets(all: readonly SelectedImage[], { icsp = false } = {}): ImageMirrorSet[] {
  const images = all.filter(({ source, isCatalog }) => !isMade(source) && !isCatalog).flatMap(byName)
  const byDigest = images.filter(({ source, isReleaseImage }) => source.digest !== undefined || isReleaseImage)
  const byTag = images.filter((image) => image.source.tag !== undefined || !image.source.digest || isTagged(image))
  return [
    ...setsOf('ImageDigestMirrorSet', byDigest),
    ...setsOf('ImageTagMirrorSet', byTag),
    ...(icsp ? setsOf('ImageContentSourcePolicy', byDigest) : []),
  ]
}

/** True for a release that keeps its tag: installers and hubs name it by that (`ocp-release:4.18.9-x86_64`), however it was found. */
function isTagged({ isReleaseImage, source, destination }: SelectedImage): boolean {
  return isReleaseImage === true && destination.tag !== tagFor(source, 'release')
}

/** An image for each name that clusters ask for it by. */
function byName(image: SelectedImage): SelectedImage[] {
  return [image, ...(image.alsoNamed ?? []).map((source) => ({ ...image, source }))]
}

function setsOf(kind: MirrorSetKind, images: readonly SelectedImage[]): ImageMirrorSet[] {
  const groups = Map.groupBy(images, (image) => categoryOf(image.class))
  return [...groups].map(([category, members]): ImageMirrorSet => {
    const mirrors = new Map<string, Set<string>>()
    for (const { source, destination } of members) {
      const scope = scopeOf(source, destination)
      mirrors.set(scope.source, (mirrors.get(scope.source) ?? new Set()).add(scope.mirror))
    }
    const entries = [...mirrors].map(([source, all]) => ({ source, mirrors: [...all].sort() }))
    return { kind, name: `${prefixes[kind]}-${category}-0`, entries }
  })
}

function categoryOf(contentClass: ContentClass): 'release' | 'operator' | 'generic' {
  return contentClass === 'release' || contentClass === 'operator' ? contentClass : 'generic'
}

/**
 * The whole namespace where the target keeps the path of the source, else the repository alone.
 *
 * Compared by path component: oc-mirror compares text, and so takes `my-ubi9/ubi` for `ubi9/ubi` (OCPBUGS-47688).
 */
export function scopeOf(source: Reference, destination: Reference): { source: string; mirror: string } {
  const wanted = source.repository.split('/')
  const keepsPath = `/${destination.repository}`.endsWith(`/${source.repository}`)
  if (!keepsPath || wanted.length < 2) return { source: repositoryName(source), mirror: repositoryName(destination) }
  return { source: namespaceOf(source), mirror: namespaceOf(destination) }
}

function namespaceOf(reference: Reference): string {
  return repositoryName(reference).replace(/\/[^/]+$/, '')
}

/**
 * Writes the sets into `cluster-resources/`, merged with what is there; returns the paths of all files that hold sets.
 *
 * @throws KnownError CONFIG_INVALID when a file there cannot be read, so that nothing in it is lost
 */
export async function writeResources(workspace: Workspace, sets: readonly ImageMirrorSet[]): Promise<string[]> {
  const written: string[] = []
  for (const [kind, name] of Object.entries(files)) {
    const path = join(workspace.clusterResources, name)
    const previous = parseImageMirrorSets((await readIfPresent(path)) ?? '', path)
    const next = sets.filter((set) => set.kind === kind)
    if (previous.length === 0 && next.length === 0) continue
    await writeIfChanged(path, renderImageMirrorSets(mergeImageMirrorSets(previous, next)))
    written.push(path)
  }
  return written
}
