/**
 * The resources through which a cluster finds mirrored operator catalogs: `cs-*.yaml`, `cc-*.yaml` and `operatorhub.yaml`.
 *
 * Names are those of oc-mirror v2; unlike there, a catalog never writes over another one, be it of this run or of an
 * earlier one, and what a person changed in a file stays.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import { type CatalogPrefix, catalogFileName, catalogName, nameCatalogs } from '../openshift/catalog-names.ts'
import { parseCatalogSource, renderCatalogSource } from '../openshift/catalog-source.ts'
import { parseClusterCatalog, renderClusterCatalog } from '../openshift/cluster-catalog.ts'
import { renderOperatorHub } from '../openshift/operator-hub.ts'
import type { ResourceFile } from '../openshift/resource-document.ts'
import { ifThere } from '../store/presence.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

export interface MirroredCatalog {
  readonly destination: Reference
  /** Of the image at the target. */
  readonly digest: Digest
  /** A CatalogSource whose other fields are taken: `targetCatalogSourceTemplate`. */
  readonly template?: ResourceFile | undefined
  /** Of its CatalogSource, where a person chose it. */
  readonly name?: string | undefined
  /** True where it was filtered, so that its image has no cache that was made beforehand. */
  readonly isRebuilt?: boolean
}

export interface CatalogResources {
  /** Paths of the files that were written, or found to be right. */
  readonly files: readonly string[]
  readonly findings: readonly Finding[]
}

/**
 * Writes the resources of `catalogs` into `cluster-resources/`, beside those of catalogs that earlier runs mirrored.
 *
 * @throws KnownError CONFIG_INVALID with the place where a template, or a file that is there, is no such resource, and
 * where two catalogs were given one name; DISK_FULL
 */
export async function writeCatalogResources(
  { clusterResources }: Pick<Workspace, 'clusterResources'>,
  catalogs: readonly MirroredCatalog[],
): Promise<CatalogResources> {
  if (catalogs.length === 0) return { files: [], findings: [] }
  const there = await filesIn(clusterResources)
  const hub = join(clusterResources, 'operatorhub.yaml')
  const hubText = await readIfPresent(hub)
  // All is rendered before anything is written: a broken template leaves what is there as it is.
  const sources = renderSources(catalogs, there)
  const clusterCatalogs = renderClusterCatalogs(catalogs, there)
  const hubFile = {
    path: hub,
    text: renderOperatorHub(hubText === undefined ? undefined : { text: hubText, file: hub }),
  }
  const rendered = [...sources, ...clusterCatalogs]
  const files = [...rendered.map(({ name, text }) => ({ path: there.pathOf(name), text })), hubFile]
  for (const { path, text } of files) await writeIfChanged(path, text)
  const findings = [
    ...rendered.flatMap(apartFinding),
    ...twiceFindings(sources, there),
    ...catalogs.flatMap(templateFindings),
  ]
  return { files: files.map(({ path }) => path).sort(), findings }
}

interface FilesThere {
  readonly names: readonly string[]
  /** By name without `.yaml`. */
  readonly get: (name: string) => ResourceFile | undefined
  readonly pathOf: (name: string) => string
}

async function filesIn(directory: string): Promise<FilesThere> {
  const pathOf = (name: string) => join(directory, `${name}.yaml`)
  const texts = new Map<string, ResourceFile>()
  for (const entry of (await ifThere(readdir(directory))) ?? []) {
    const [, name] = /^(c[cs]-.+)\.yaml$/.exec(entry) ?? []
    if (name === undefined) continue
    const text = await readIfPresent(pathOf(name))
    if (text !== undefined) texts.set(name, { text, file: pathOf(name) })
  }
  return { names: [...texts.keys()].sort(), get: (name) => texts.get(name), pathOf }
}

interface Rendered {
  readonly catalog: MirroredCatalog
  readonly prefix: CatalogPrefix
  /** Of the file, without `.yaml`. */
  readonly name: string
  readonly text: string
}

function renderSources(catalogs: readonly MirroredCatalog[], there: FilesThere): Rendered[] {
  const imageOf = (name: string) =>
    imageIn(there.get(catalogFileName('cs', name)), (file) => parseCatalogSource(file)?.spec?.image)
  const names = nameCatalogs('cs', catalogs, imageOf)
  return catalogs.map((catalog, index) => {
    const name = names[index] ?? ''
    const previous = there.get(catalogFileName('cs', name))
    const wanted = { name, isNameChosen: catalog.name !== undefined, image: imageFor(catalog, imageOf(name)) }
    const text = renderCatalogSource(wanted, { previous, template: catalog.template })
    return { catalog, prefix: 'cs', name: catalogFileName('cs', name), text }
  })
}

function renderClusterCatalogs(catalogs: readonly MirroredCatalog[], there: FilesThere): Rendered[] {
  const imageOf = (name: string) =>
    imageIn(there.get(name), (file) => parseClusterCatalog(file)?.spec?.source?.image?.ref)
  const unnamed = catalogs.map(({ destination }) => ({ destination }))
  const names = nameCatalogs('cc', unnamed, imageOf)
  return catalogs.map((catalog, index) => {
    const name = names[index] ?? ''
    const text = renderClusterCatalog({ name, image: imageFor(catalog, imageOf(name)) }, there.get(name))
    return { catalog, prefix: 'cc', name, text }
  })
}

/** The image that a file is for, empty where it names none; undefined where there is no file, or nothing in it. */
function imageIn(file: ResourceFile | undefined, read: (file: ResourceFile) => string | undefined): string | undefined {
  return file === undefined || file.text.trim() === '' ? undefined : (read(file) ?? '')
}

/** By tag, as oc-mirror names it; by digest where somebody pinned it before. */
function imageFor({ destination, digest }: MirroredCatalog, before: string | undefined): string {
  const isPinned = before !== undefined && /^[^@]*\/[^:@]+@/.test(before)
  return isPinned ? `${repositoryName(destination)}@${digest}` : formatReference(destination)
}

/** That a catalog has another name than oc-mirror would give it, because the usual one is another catalog's. */
function apartFinding({ catalog, prefix, name }: Rendered): Finding[] {
  const usual = catalogName(prefix, catalog.destination)
  if (name === usual || (prefix === 'cs' && catalog.name !== undefined)) return []
  const image = formatReference(catalog.destination)
  return [
    finding({
      id: 'mirror.catalog-name-taken',
      severity: 'warning',
      summary: `${image} is offered to the cluster as ${name}: ${usual} is the name of another catalog`,
      remedy:
        prefix === 'cs'
          ? `Name ${name} in subscriptions, or choose a name with catalogSourceName.`
          : `If the other catalog is no longer used, move ${usual}.yaml away.`,
    }),
  ]
}

/** That the cluster would see each operator twice: a catalog was given another name, and its earlier file is still there. */
function twiceFindings(sources: readonly Rendered[], there: FilesThere): Finding[] {
  const written = new Set(sources.map(({ name }) => name))
  const others = there.names.filter((name) => name.startsWith('cs-') && !written.has(name))
  return others.flatMap((name) => {
    const image = readableImage(there.get(name))
    const twin = sources.find(({ catalog }) => image === formatReference(catalog.destination))
    if (!twin) return []
    return finding({
      id: 'mirror.catalog-twice',
      severity: 'warning',
      summary: `${image} is offered to the cluster twice: by ${name}.yaml of an earlier run, and by ${twin.name}.yaml`,
      remedy: `When no subscription names the source of ${name}.yaml any more, delete it from the cluster, and the file.`,
    })
  })
}

/** Of a file that this run does not write: what is wrong with it is not its business. */
function readableImage(file: ResourceFile | undefined): string | undefined {
  try {
    return file && parseCatalogSource(file)?.spec?.image
  } catch (error) {
    if (error instanceof KnownError) return undefined
    throw error
  }
}

function templateFindings({ template, isRebuilt = false }: MirroredCatalog): Finding[] {
  const { metadata, spec } = (template && parseCatalogSource(template)) ?? {}
  const file = template?.file ?? ''
  const findings: Finding[] = []
  const namespace = metadata?.namespace ?? 'openshift-marketplace'
  if (namespace !== 'openshift-marketplace')
    findings.push(
      finding({
        id: 'mirror.template-namespace',
        severity: 'warning',
        summary: `The namespace ${namespace} of the template is replaced with openshift-marketplace, as oc-mirror does`,
        remedy: 'Change it in the file below cluster-resources: it is kept there.',
        where: { file },
      }),
    )
  if (isRebuilt && spec?.grpcPodConfig?.extractContent?.cacheDir !== undefined)
    findings.push(
      finding({
        id: 'mirror.template-cache',
        severity: 'warning',
        summary:
          'The template has extractContent.cacheDir, and a filtered catalog has no cache that fits its content: its pod would fail with "cache requires rebuild"',
        remedy: 'Take extractContent out of the template for filtered catalogs; their image serves itself.',
        where: { file },
      }),
    )
  return findings
}
