import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { digestOf, hexOf } from '../oci/digest.ts'
import { formatReference, parseReference, repositoryName } from '../oci/reference.ts'
import { nodeRegistriesConf } from '../registries/node-conf.ts'
import { resolveEndpoints } from '../registries/resolve.ts'
import { type MirrorTarget, parseMirrorTarget } from './destination.ts'
import { withMaxNestedPaths } from './nested-paths.ts'
import { mirrorSets } from './resources.ts'
import { type ChosenBundle, operatorImages } from './select-operators.ts'
import type { SelectedImage } from './selection.ts'

const target = parseMirrorTarget('docker://reg.lab:8443/ocp')
const catalog = 'reg.example/redhat-operator-index:v4.18'
const [one, two] = [digestOf('one'), digestOf('two')]

function bundle(name: string, image: string, ...related: string[]): ChosenBundle {
  const relatedImages = related.map((text, index) => ({ name: index === 0 ? '' : `image-${index}`, image: text }))
  return { name, package: name.split('.')[0] ?? name, image, relatedImages }
}

function selected(bundles: readonly ChosenBundle[], others: readonly SelectedImage[] = []) {
  return operatorImages([{ catalog, bundles }], { target, others })
}

function placesOf(images: readonly SelectedImage[]): string[] {
  return images.map(
    ({ source, destination }) => `${formatReference(source)} -> ${destination.repository}:${destination.tag}`,
  )
}

test('a bundle brings itself and the images that it names, each with its reason', () => {
  const chosen = {
    ...bundle('a.v1', `quay.io/a/bundle@${one}`, `quay.io/a/operator@${two}`, 'quay.io/a/tool:v1'),
    reason: 'head of stable',
  }
  const { images, unreadable } = selected([chosen])
  assert.deepEqual(unreadable, [])
  assert.deepEqual(placesOf(images), [
    `quay.io/a/bundle@${one} -> ocp/a/bundle:sha256-${hexOf(one)}`,
    `quay.io/a/operator@${two} -> ocp/a/operator:sha256-${hexOf(two)}`,
    'quay.io/a/tool:v1 -> ocp/a/tool:v1',
  ])
  const why = `bundle a.v1 of package a in ${catalog} (head of stable)`
  assert.deepEqual(
    images.map((image) => [image.class, image.why]),
    [
      ['operator', why],
      ['operator', `image of ${why}`],
      ['operator', `image image-1 of ${why}`],
    ],
  )
})

test('catalogs with bundles of one name do not take images from each other', () => {
  const second = 'reg.example/certified-operator-index:v4.18'
  const { images } = operatorImages(
    [
      { catalog, bundles: [bundle('a.v1', `quay.io/a/bundle@${one}`, `quay.io/x/shared@${one}`)] },
      { catalog: second, bundles: [bundle('a.v1', `quay.io/a/bundle@${two}`, `quay.io/x/shared@${one}`)] },
    ],
    { target },
  )
  assert.deepEqual(
    images.map(({ source }) => formatReference(source)),
    [`quay.io/a/bundle@${one}`, `quay.io/x/shared@${one}`, `quay.io/a/bundle@${two}`],
  )
  assert.equal(images[1]?.why, `image of bundle a.v1 of package a in ${catalog}, and 1 more bundle`)
})

test('platforms of catalogs that name one image are put together; one that wants all wins', () => {
  const [amd64, arm64] = ['amd64', 'arm64'].map((architecture) => ({ os: 'linux', architecture }))
  assert.ok(amd64 && arm64)
  const bundles = [bundle('a.v1', `quay.io/a/bundle@${one}`)]
  const platformsOf = (...all: (readonly (typeof amd64)[] | undefined)[]) =>
    operatorImages(
      all.map((platforms) => ({ catalog, bundles, platforms })),
      { target },
    ).images[0]?.platforms
  assert.deepEqual(platformsOf([amd64], [arm64, amd64]), [amd64, arm64])
  assert.equal(platformsOf([amd64], undefined, [arm64]), undefined)
})

test('a name that is no reference is one hole of its own, told with the bundle', () => {
  const { images, unreadable } = selected([
    bundle('a.v1', `quay.io/a/bundle@${one}`, 'quay.io/A B:v1', '', '  ', `quay.io/a/b@sha256:12`),
    bundle('a.v2', `quay.io/a/bundle@${two}`, 'quay.io/A B:v1'),
  ])
  assert.equal(images.length, 2)
  assert.deepEqual(
    unreadable.map(({ error }) => error.code),
    ['REFERENCE_INVALID', 'REFERENCE_INVALID'],
  )
  assert.match(
    unreadable[0]?.error.message ?? '',
    /bundle a\.v1 of package a in reg\.example.*"quay\.io\/A B:v1" is not/,
  )
  // It is kept by its place, which is one that a registry could have.
  for (const { image } of unreadable)
    for (const reference of [image.source, image.destination])
      assert.deepEqual(parseReference(formatReference(reference)), reference)
  assert.equal(new Set(unreadable.map(({ image }) => formatReference(image.destination))).size, 2)
})

test('two digests under one tag do not write over each other: the second is found by its digest', () => {
  const tool = 'quay.io/a/tool:v1'
  const { images, unreadable } = selected([
    bundle('a.v1', '', `${tool}@${one}`),
    bundle('a.v2', '', `${tool}@${two}`),
    bundle('a.v3', '', tool),
  ])
  assert.deepEqual(unreadable, [])
  assert.deepEqual(placesOf(images), [
    `${tool}@${one} -> ocp/a/tool:sha256-${hexOf(one)}`,
    `${tool}@${two} -> ocp/a/tool:sha256-${hexOf(two)}`,
    `${tool} -> ocp/a/tool:v1`,
  ])
})

test('one content under the same path of two registries is stored once, and found under both names', () => {
  const names = [`registry.example/a/tool@${one}`, `quay.io/a/tool@${one}`]
  const { images, unreadable } = selected([bundle('a.v1', '', ...names)])
  assert.deepEqual(unreadable, [])
  assert.equal(images.length, 1)
  const [set] = mirrorSets(images)
  assert.deepEqual(
    set?.entries.map(({ source }) => source),
    ['registry.example/a', 'quay.io/a'],
  )
})

test('two images that no name tells apart are told, and the first is mirrored', () => {
  const { images, unreadable } = selected([bundle('a.v1', '', 'quay.io/a/tool:v1', 'registry.example/a/tool:v1')])
  assert.deepEqual(placesOf(images), ['quay.io/a/tool:v1 -> ocp/a/tool:v1'])
  assert.equal(unreadable[0]?.error.code, 'CONFIG_INVALID')
})

test('an image of another class keeps its tag', () => {
  const destination = parseReference('reg.lab:8443/ocp/a/tool:v1')
  const other: SelectedImage = {
    source: parseReference('quay.io/a/tool:v1'),
    class: 'additional',
    destination,
    why: '',
  }
  const { images } = selected([bundle('a.v1', '', `quay.io/a/tool:v1@${one}`, 'quay.io/a/tool:v1')], [other])
  assert.deepEqual(placesOf(images), [
    `quay.io/a/tool:v1@${one} -> ocp/a/tool:sha256-${hexOf(one)}`,
    'quay.io/a/tool:v1 -> ocp/a/tool:v1',
  ])
})

/** The bundles of a real catalog: documents of JSON behind each other. */
function bundlesOf(path: string): ChosenBundle[] {
  const documents = readFileSync(path, 'utf8').split(/(?<=^\})\s*(?=^\{)/m)
  return documents.flatMap((text) => {
    const document = JSON.parse(text)
    return document.schema === 'olm.bundle' ? [{ ...document, relatedImages: document.relatedImages ?? [] }] : []
  })
}

const catalogs = [
  'mirror/oc-mirror/fbc/jaeger-product/catalog.json',
  'mirror/oc-mirror/fbc/aws-load-balancer-operator/catalog.json',
  'mirror/oc-mirror/fbc/node-observability-operator-4.14/catalog.json',
  'mirror/catalog-filter/community-catalog-config.json',
]
for (const name of catalogs) {
  const path = fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url))
  if (!existsSync(path)) continue
  for (const at of [target, withMaxNestedPaths(target, 2)]) {
    test(`a node finds every image of ${name} in the mirror${at.maxNestedPaths ? ', folded' : ''}`, () => {
      checkFound(bundlesOf(path), at)
    })
  }
}

function checkFound(bundles: readonly ChosenBundle[], at: MirrorTarget): void {
  const { images, unreadable } = operatorImages([{ catalog, bundles }], { target: at })
  assert.deepEqual(unreadable, [])
  assert.ok(images.length > bundles.length)
  assert.equal(new Set(images.map(({ destination }) => formatReference(destination))).size, images.length)
  const sets = mirrorSets(images)
  const ofKind = (kind: string) => sets.filter((set) => set.kind === kind).flatMap(({ entries }) => entries)
  for (const { name } of sets) assert.match(name, /^i[dt]ms-operator-0$/)
  const plain = (kind: string) => ofKind(kind).map(({ source, mirrors }) => ({ source, mirrors }))
  const conf = nodeRegistriesConf({ idms: plain('ImageDigestMirrorSet'), itms: plain('ImageTagMirrorSet') })
  for (const { source, destination } of images) {
    const [first] = resolveEndpoints(conf, source).endpoints
    assert.equal(first && repositoryName(first.reference), repositoryName(destination), formatReference(source))
  }
}
