import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import {
  type ImageMirrorSet,
  mergeImageMirrorSets,
  parseImageMirrorSets,
  renderImageMirrorSets,
} from './image-mirror-set.ts'

const corpus = fileURLToPath(new URL('../../../shared/data/cluster-resources', import.meta.url))

const mirrorSet: fc.Arbitrary<ImageMirrorSet> = fc.record({
  kind: fc.constantFrom(
    'ImageDigestMirrorSet' as const,
    'ImageTagMirrorSet' as const,
    'ImageContentSourcePolicy' as const,
  ),
  name: fc.constantFrom('idms-release-0', 'idms-generic-0', 'mine'),
  entries: fc.uniqueArray(
    fc
      .record({
        source: fc.constantFrom('quay.io/a', 'quay.io/b', 'registry.redhat.io', '"odd": #name', '*.lab'),
        mirrors: fc.uniqueArray(fc.constantFrom('lab:5000/a', 'lab:5000/b', 'x.y'), { maxLength: 3 }),
        policy: fc.constantFrom(undefined, 'NeverContactSource' as const, 'AllowContactingSource' as const),
      })
      .map(({ source, mirrors, policy }) => ({ source, mirrors, mirrorSourcePolicy: policy })),
    { selector: ({ source }) => source, maxLength: 5 },
  ),
})
const mirrorSets = fc.uniqueArray(mirrorSet, { selector: ({ kind, name }) => `${kind}/${name}`, maxLength: 4 })

/** Sets as a comparison wants them: without order. */
function plain(sets: readonly ImageMirrorSet[]) {
  const key = (text: { source?: string; name?: string; kind?: string }) =>
    `${text.source ?? ''}${text.kind ?? ''}${text.name ?? ''}`
  const byKey = (a: object, b: object) => (key(a) < key(b) ? -1 : 1)
  const sorted = sets
    .map((set) => ({ ...set, entries: set.entries.map((entry) => ({ ...entry })).sort(byKey) }))
    .sort(byKey)
  return JSON.parse(JSON.stringify(sorted))
}

test('what is written is read back as it was, and written again byte for byte', () => {
  fc.assert(
    fc.property(mirrorSets, (sets) => {
      const text = renderImageMirrorSets(sets)
      const read = parseImageMirrorSets(text, 'x.yaml')
      assert.deepEqual(plain(read), plain(sets))
      assert.equal(renderImageMirrorSets(read), text)
    }),
  )
})

test('merging loses nothing, names each source once, and merging again changes nothing', () => {
  fc.assert(
    fc.property(mirrorSets, mirrorSets, (previous, next) => {
      const merged = mergeImageMirrorSets(previous, next)
      assert.deepEqual(plain(mergeImageMirrorSets(merged, next)), plain(merged))
      for (const set of [...previous, ...next]) {
        const into = merged.filter(({ kind, name }) => kind === set.kind && name === set.name)
        assert.equal(into.length, 1)
        for (const { source, mirrors } of set.entries) {
          const entries = into[0]?.entries.filter((entry) => entry.source === source) ?? []
          assert.equal(entries.length, 1)
          for (const mirror of mirrors) assert.ok(entries[0]?.mirrors.includes(mirror))
        }
      }
    }),
  )
})

test('of the mirrors of a source those of the newer run come first', () => {
  const set = (mirrors: string[]): ImageMirrorSet => ({
    kind: 'ImageDigestMirrorSet',
    name: 'x',
    entries: [{ source: 'a', mirrors }],
  })
  const [merged] = mergeImageMirrorSets([set(['old', 'both'])], [set(['both', 'new'])])
  assert.deepEqual(merged?.entries[0]?.mirrors, ['both', 'new', 'old'])
})

test('a set whose list is empty, null or absent has no entries', () => {
  for (const spec of ['{}', '{imageTagMirrors: []}', '{imageTagMirrors: null}'])
    assert.deepEqual(parseImageMirrorSets(`kind: ImageTagMirrorSet\nmetadata: {name: a}\nspec: ${spec}\n`, 'x.yaml'), [
      { kind: 'ImageTagMirrorSet', name: 'a', entries: [] },
    ])
})

test('documents of other kinds are passed over; a broken one is refused with the name of its file', () => {
  assert.deepEqual(parseImageMirrorSets('kind: CatalogSource\n---\n[]\n---\nnull\n', 'x.yaml'), [])
  assert.deepEqual(parseImageMirrorSets('', 'x.yaml'), [])
  for (const text of [
    'kind: ImageDigestMirrorSet\nmetadata: {name: a}\nspec: {imageDigestMirrors: [{mirrors: [a]}]}\n',
    'kind: [\n',
    '*nothing',
    'kind: ImageTagMirrorSet\n',
  ])
    assert.throws(() => parseImageMirrorSets(text, 'x.yaml'), { code: 'CONFIG_INVALID', message: /^x\.yaml: / })
})

test('every mirror set that people keep in their repositories is read, and survives being written', (t) => {
  if (!existsSync(corpus)) return t.skip('the shared data is not here')
  let sets = 0
  for (const name of readdirSync(corpus, { recursive: true, encoding: 'utf8' }).filter((each) =>
    /\.ya?ml$/.test(each),
  )) {
    const text = readFileSync(join(corpus, name), 'utf8')
    let read: ImageMirrorSet[]
    try {
      read = parseImageMirrorSets(text, name)
    } catch (error) {
      const { code, message } = error as Error & { code?: string }
      assert.equal(code, 'CONFIG_INVALID', `${name}: ${message}`)
      // Templates of other programs are no YAML before they are filled in.
      assert.match(text, /\{\{|\{%|\$\{?\w|<[a-z_ -]+>/i, `${name} was refused: ${message}`)
      continue
    }
    sets += read.length
    assert.deepEqual(plain(parseImageMirrorSets(renderImageMirrorSets(read), name)).length, plain(read).length, name)
  }
  assert.ok(sets >= 15, `only ${sets} sets were found`)
})
