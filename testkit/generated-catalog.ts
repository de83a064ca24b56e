/** Catalogs of any size, made while they are read. */
import type { CatalogFiles } from '../src/catalog/meta.ts'

export interface GeneratedCatalogOptions {
  readonly packages: number
  /** Of each package. */
  readonly bundles: number
  /** About so large is each bundle. */
  readonly bundleBytes: number
  /** Files, and documents in them, come in the opposite order. */
  readonly isReversed: boolean
}

/** One file for each package. */
export function generatedCatalog({
  packages,
  bundles,
  bundleBytes,
  isReversed,
}: GeneratedCatalogOptions): CatalogFiles {
  const inOrder = <Item>(items: readonly Item[]) => (isReversed ? items.toReversed() : items)
  const names = Array.from({ length: packages }, (_, index) => `operator-${String(index).padStart(4, '0')}`)
  const bundleText = (of: string, index: number) => generatedBundle(of, index, bundleBytes)
  const indexes = Array.from({ length: bundles }, (_, index) => index)
  return {
    origin: 'a generated catalog',
    files: async function* () {
      for (const name of inOrder(names)) {
        const size = graphTexts(name, bundles).join('').length + bundles * bundleText(name, 0).length
        const open = async function* () {
          const texts = graphTexts(name, bundles)
          if (!isReversed) yield Buffer.from(texts.join(''))
          for (const index of inOrder(indexes)) yield Buffer.from(bundleText(name, index))
          if (isReversed) yield Buffer.from(texts.toReversed().join(''))
        }
        yield { path: `${name}/catalog.json`, size, open }
      }
    },
  }
}

function graphTexts(of: string, bundles: number): string[] {
  const entries = Array.from({ length: bundles }, (_, index) => ({
    name: bundleName(of, index),
    ...(index > 0 && { replaces: bundleName(of, index - 1) }),
  }))
  return [
    text({ schema: 'olm.package', name: of, defaultChannel: 'stable' }),
    text({ schema: 'olm.channel', name: 'stable', package: of, entries }),
  ]
}

/** Words that no other bundle has stand between those that all have, as in the descriptions of a real one. */
function generatedBundle(of: string, index: number, bytes: number): string {
  const words = Math.ceil(bytes / 60)
  const name = bundleName(of, index)
  const lines = Array.from({ length: words }, (_, word) => `${(word * 2654435761) >>> 0} is what ${name} says of this`)
  return text({
    schema: 'olm.bundle',
    name,
    package: of,
    image: `registry.test/${of}@sha256:${'0'.repeat(64)}`,
    properties: [
      { type: 'olm.package', value: { packageName: of, version: versionOf(index) } },
      { type: 'olm.csv.metadata', value: { description: lines } },
    ],
    relatedImages: [{ name: '', image: `registry.test/${of}:${versionOf(index)}` }],
  })
}

function bundleName(of: string, index: number): string {
  return `${of}.v${versionOf(index)}`
}

/** Of the same length for every index. */
function versionOf(index: number): string {
  return `1.${1000 + index}.0`
}

function text(document: object): string {
  return `${JSON.stringify(document, undefined, 4)}\n`
}
