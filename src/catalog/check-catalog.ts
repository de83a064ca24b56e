/** What is wrong in a catalog that can be read: channels that nobody can follow, names that lead nowhere. */
import { type Finding, finding } from '../errors/finding.ts'
import { flawText } from './channel-flaws.ts'
import { type ChannelGraph, channelGraph } from './channel-graph.ts'
import type { Catalog, CatalogPackage, MetaPlace } from './meta.ts'
import { bundleVersion, catalogRange } from './select-versions.ts'

/**
 * By package. Errors are what `opm validate` or the catalog filter of oc-mirror refuses (operator-framework/operator-registry
 * `alpha/model/model.go`, `alpha/declcfg/declcfg_to_model.go`).
 */
export function checkCatalog(catalog: Catalog): Finding[] {
  return [...catalog.packages.values()].flatMap((one) => [
    ...packageFindings(one),
    ...channelFindings(one),
    ...bundleFindings(one),
    ...versionFindings(one),
    ...deprecationFindings(one),
  ])
}

interface Said {
  readonly id: string
  readonly severity: Finding['severity']
  readonly summary: string
  readonly place: MetaPlace
}

function say({ place, ...said }: Said): Finding {
  return finding({ ...said, evidence: `${place.file}, byte ${place.offset}` })
}

function packageFindings({ meta: { name, defaultChannel, place }, channels }: CatalogPackage): Finding[] {
  const problem = (id: string, summary: string) =>
    say({ id, severity: 'error', summary: `package "${name}" ${summary}`, place })
  if (channels.size === 0) return [problem('catalog.no-channels', 'has no channels, so nothing of it can be installed')]
  if (defaultChannel === '') return [problem('catalog.no-default-channel', 'names no default channel')]
  if (channels.has(defaultChannel)) return []
  return [
    problem('catalog.no-default-channel', `names the default channel "${defaultChannel}", which it does not have`),
  ]
}

function channelFindings({ channels, bundles }: CatalogPackage): Finding[] {
  return [...channels.values()].flatMap(({ name, package: of, entries, place }) => {
    const where = `channel "${name}" of package "${of}"`
    const absent = [...new Set(entries.map((entry) => entry.name))].filter((entry) => !bundles.has(entry))
    const graph = channelGraph(entries)
    const unclear = entries.filter(({ skipRange }) => skipRange !== undefined && catalogRange(skipRange) === undefined)
    const problem = (id: string, why: string) => say({ id, severity: 'error', summary: `${where} ${why}`, place })
    const stranded = graph.flaws.length === 0 ? strandedIn(graph) : []
    return [
      ...graph.flaws.map((flaw) => problem('catalog.channel-flawed', `cannot be followed: ${flawText(flaw)}`)),
      ...(stranded.length > 0
        ? [
            problem(
              'catalog.bundle-stranded',
              `leads from its head to none of ${stranded.join(', ')}, and nothing skips them`,
            ),
          ]
        : []),
      ...(absent.length > 0
        ? [problem('catalog.bundle-absent', `lists ${absent.join(', ')}, and the package has no such bundle`)]
        : []),
      ...unclear.map((entry) => {
        const summary = `${where} has the entry ${entry.name} with the skipRange "${entry.skipRange}", which is no range: OLM updates nothing by it`
        return say({ id: 'catalog.skip-range-invalid', severity: 'warning', summary, place })
      }),
    ]
  })
}

/** Entries that neither the replaces chain of the head nor any skip leads to (model.go, validateReplacesChain). */
function strandedIn({ entries, chain }: ChannelGraph): string[] {
  const skipped = new Set([...entries.values()].flatMap(({ skips }) => skips))
  const end = chain.findIndex((name) => skipped.has(entries.get(name)?.replaces ?? ''))
  const reached = new Set(end < 0 ? chain : chain.slice(0, end + 1))
  return [...entries.keys()].filter((name) => !reached.has(name) && !skipped.has(name))
}

function bundleFindings({ channels, bundles }: CatalogPackage): Finding[] {
  const listed = new Set([...channels.values()].flatMap(({ entries }) => entries.map(({ name }) => name)))
  return [...bundles.values()].flatMap(({ name, package: of, version, image, relatedImages, place }) => {
    const where = `bundle "${name}" of package "${of}"`
    const said = (id: string, severity: Finding['severity'], why: string) =>
      say({ id, severity, summary: `${where} ${why}`, place })
    const nameless = relatedImages.filter((related) => related.image === '').length
    return [
      ...(listed.has(name) ? [] : [said('catalog.bundle-unlisted', 'error', 'stands in no channel')]),
      ...(bundleVersion(version) ? [] : [said('catalog.bundle-unversioned', 'error', versionText(version))]),
      ...(image === '' && relatedImages.length === 0
        ? [said('catalog.bundle-imageless', 'warning', 'names no image: nothing of it can be mirrored')]
        : []),
      ...(nameless > 0
        ? [said('catalog.image-empty', 'warning', `has ${nameless} related images without a reference`)]
        : []),
    ]
  })
}

function versionText(version: string | undefined): string {
  return version === undefined ? 'has no version' : `has the version "${version}", which is no semantic version`
}

function versionFindings({ bundles }: CatalogPackage): Finding[] {
  const versioned = [...bundles.values()].filter(({ version }) => version !== undefined)
  return [...Map.groupBy(versioned, ({ version }) => version)].flatMap(([version, [first, ...others]]) => {
    if (first === undefined || others.length === 0) return []
    const names = [first, ...others].map(({ name }) => name).join(', ')
    const summary = `package "${first.package}" has the version ${version} ${others.length + 1} times: ${names}`
    return [say({ id: 'catalog.version-repeated', severity: 'error', summary, place: first.place })]
  })
}

function deprecationFindings({ deprecations, channels, bundles, meta }: CatalogPackage): Finding[] {
  return (deprecations?.entries ?? []).flatMap(({ reference: { schema, name = '' } }) => {
    const there = { 'olm.channel': channels, 'olm.bundle': bundles }[schema]
    if (there === undefined || there.has(name) || deprecations === undefined) return []
    const summary = `package "${meta.name}" deprecates the ${schema.slice('olm.'.length)} "${name}", which it does not have`
    return [say({ id: 'catalog.deprecation-lost', severity: 'error', summary, place: deprecations.place })]
  })
}
