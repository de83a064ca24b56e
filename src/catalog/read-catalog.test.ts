import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { tempDir } from '../../testkit/temp-dir.ts'
import { catalogFilesOfDirectory } from './catalog-files.ts'
import type { Catalog, CatalogFiles } from './meta.ts'
import { readCatalog } from './read-catalog.ts'

const olmPackage = (name: string) => ({ schema: 'olm.package', name, defaultChannel: 'stable' })
const channel = (owner: string, entries: readonly object[] = [{ name: `${owner}.v1` }], name = 'stable') => ({
  schema: 'olm.channel',
  package: owner,
  name,
  entries,
})
const bundle = (owner: string, properties: readonly object[] = [], name = `${owner}.v1`) => ({
  schema: 'olm.bundle',
  package: owner,
  name,
  image: `quay.io/x/${owner}@sha256:${'0'.repeat(64)}`,
  properties: [{ type: 'olm.package', value: { packageName: owner, version: '1.0.0' } }, ...properties],
  relatedImages: [{ name: 'operator', image: `quay.io/x/${owner}-operator:1` }],
})
const whole = (owner: string) => [olmPackage(owner), channel(owner), bundle(owner)]
const printed = (documents: readonly object[]) => documents.map((each) => `${JSON.stringify(each, null, 2)}\n`).join('')

/** Files of memory, in the order of their names as they stand. */
function filesOf(texts: Readonly<Record<string, string>>): CatalogFiles {
  return {
    origin: 'the catalog',
    async *files() {
      for (const [path, text] of Object.entries(texts)) {
        const bytes = Buffer.from(text)
        yield { path, size: bytes.length, open: () => ReadableStream.from([bytes]) }
      }
    },
  }
}

async function directoryOf(t: TestContext, texts: Readonly<Record<string, string>>): Promise<string> {
  const directory = await tempDir(t)
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  return directory
}

const read = (texts: Readonly<Record<string, string>>) => readCatalog(filesOf(texts))
const namesOf = (catalog: Catalog) => [...catalog.packages.keys()]

async function bundleWith(...properties: readonly object[]) {
  const catalog = await read({ 'a.json': printed([olmPackage('a'), channel('a'), bundle('a', properties)]) })
  return catalog.packages.get('a')?.bundles.get('a.v1') ?? assert.fail()
}

test('a package, its channel and its bundle are read with their places, from JSON and from YAML', async () => {
  const documents = whole('a')
  for (const text of [printed(documents), documents.map((each) => stringify(each)).join('---\n')]) {
    const { packages, others } = await read({ 'a/catalog': text })
    const { meta, channels, bundles, deprecations } = packages.get('a') ?? assert.fail()
    assert.deepEqual([others, deprecations], [[], undefined])
    assert.deepEqual([meta.defaultChannel, meta.place.file, meta.place.offset], ['stable', 'a/catalog', 0])
    assert.deepEqual(channels.get('stable')?.entries, [{ name: 'a.v1', skips: [] }])
    const { place, ...rest } = bundles.get('a.v1') ?? assert.fail()
    assert.deepEqual(rest, {
      schema: 'olm.bundle',
      package: 'a',
      name: 'a.v1',
      image: `quay.io/x/a@sha256:${'0'.repeat(64)}`,
      version: '1.0.0',
      relatedImages: [{ name: 'operator', image: 'quay.io/x/a-operator:1' }],
      requires: [],
      provides: [],
    })
    assert.match(text.slice(place.offset, place.offset + place.length), /^(?:\{\s*"schema": "|schema: )olm.bundle/)
  }
})

test('entries of a channel keep what they replace and skip', async () => {
  const entries = [{ name: 'b', replaces: 'a', skips: ['x', 'y'], skipRange: '<2.0.0' }, { name: 'a' }]
  const { packages } = await read({
    f: printed([olmPackage('a'), channel('a', entries), channel('a', entries, 'fast')]),
  })
  for (const { entries: found } of packages.get('a')?.channels.values() ?? [])
    assert.deepEqual(found, [entries[0], { name: 'a', skips: [] }])
})

test('entries of one name that say different things in two channels stay different', async () => {
  const ways = [
    { replaces: 'a' },
    { replaces: 'b' },
    { skips: ['b'] },
    { skips: ['a'] },
    { skips: ['a', 'b'] },
    { skipRange: '<2' },
    {},
  ]
  const channels = [...ways, ...ways].map((way, index) => channel('a', [{ name: 'x', ...way }], `c${10 + index}`))
  const { packages } = await read({ f: printed([olmPackage('a'), ...channels]) })
  const found = [...(packages.get('a')?.channels.values() ?? [])].map(({ entries: [entry] }) => entry)
  assert.deepEqual(
    found,
    [...ways, ...ways].map((way) => ({ name: 'x', skips: [], ...way })),
  )
})

test('what a bundle needs and gives is read from its properties', async () => {
  const gvk = { group: 'x.io', version: 'v1', kind: 'Kind' }
  const { requires, provides, maxOpenShiftVersion, minKubeVersion } = await bundleWith(
    { type: 'olm.gvk', value: gvk },
    { type: 'olm.gvk.required', value: gvk },
    { type: 'olm.package.required', value: { packageName: 'b', versionRange: '>=1.0.0' } },
    {
      type: 'olm.constraint',
      value: {
        failureMessage: 'needs b, not c',
        all: {
          constraints: [
            { package: { packageName: 'b', versionRange: '>=1' } },
            { not: { constraints: [{ gvk }] } },
            { cel: { rule: 'true' } },
            { future: {} },
          ],
        },
      },
    },
    { type: 'olm.maxOpenShiftVersion', value: '4.18' },
    { type: 'olm.csv.metadata', value: { minKubeVersion: '1.28.0' } },
    { type: 'unknown', value: null },
  )
  assert.deepEqual([provides, maxOpenShiftVersion, minKubeVersion], [[gvk], '4.18', '1.28.0'])
  assert.deepEqual(requires, [
    { kind: 'gvk', gvk },
    { kind: 'package', package: 'b', versionRange: '>=1.0.0' },
    {
      kind: 'constraint',
      text: 'needs b, not c',
      constraint: {
        kind: 'all',
        of: [
          { kind: 'package', package: 'b', versionRange: '>=1' },
          { kind: 'not', of: [{ kind: 'gvk', gvk }] },
          { kind: 'cel', rule: 'true' },
          { kind: 'unknown', name: 'future' },
        ],
      },
    },
  ])
})

test('the version of Kubernetes is taken from the ClusterServiceVersion in base64, in JSON or YAML, and from nothing else', async () => {
  const object = (manifest: object, print: (value: object) => string = JSON.stringify) => ({
    type: 'olm.bundle.object',
    value: { data: Buffer.from(print(manifest)).toString('base64') },
  })
  const csv = { kind: 'ClusterServiceVersion', spec: { minKubeVersion: '1.27.0' } }
  const crd = { kind: 'CustomResourceDefinition', spec: { note: 'ClusterServiceVersion minKubeVersion' } }
  assert.equal((await bundleWith(object(crd), object(csv))).minKubeVersion, '1.27.0')
  assert.equal((await bundleWith(object(csv, stringify))).minKubeVersion, '1.27.0')
  assert.equal('minKubeVersion' in (await bundleWith(object(crd))), false)
  const torn = Buffer.from(`{"kind":"ClusterServiceVersion","spec":{"minKubeVersion":`).toString('base64')
  assert.equal((await bundleWith({ type: 'olm.bundle.object', value: { data: torn } })).minKubeVersion, undefined)
})

test('deprecations belong to their package, and unknown documents to theirs or to the catalog', async () => {
  const deprecations = {
    schema: 'olm.deprecations',
    package: 'a',
    entries: [
      { reference: { schema: 'olm.package' }, message: 'gone' },
      { reference: { schema: 'olm.bundle', name: 'a.v1' }, message: 'old' },
    ],
  }
  const others = [
    { schema: 'x.lifecycle', package: 'a', name: 'y' },
    { schema: 'x.free' },
    { schema: 'z', package: 'no' },
  ]
  const catalog = await read({ f: printed([...whole('a'), deprecations, ...others]) })
  const { deprecations: found, others: own } = catalog.packages.get('a') ?? assert.fail()
  assert.deepEqual(found?.entries, deprecations.entries)
  assert.deepEqual([own[0]?.schema, own[0]?.name, own.length], ['x.lifecycle', 'y', 1])
  assert.deepEqual(
    catalog.others.map(({ schema }) => schema),
    ['x.free', 'z'],
  )
})

test('names in the root of a document are read in upper and lower case', async () => {
  assert.deepEqual(namesOf(await read({ f: '{"Schema": "olm.package", "Name": "a"}' })), ['a'])
})

test('the same catalog comes out in whatever order the files come', async () => {
  const texts = Object.fromEntries(
    ['c', 'a', 'b'].flatMap((name) => whole(name).map((each) => [`${name}/${each.schema}`, printed([each])])),
  )
  const expected = await read(texts)
  assert.deepEqual(namesOf(expected), ['a', 'b', 'c'])
  const property = fc.asyncProperty(fc.shuffledSubarray(Object.entries(texts), { minLength: 9 }), async (shuffled) => {
    const catalog = await read(Object.fromEntries(shuffled))
    assert.deepEqual([...catalog.packages], [...expected.packages])
  })
  await fc.assert(property, { numRuns: 20 })
})

const olmBundleTwice = [bundle('a'), ...whole('a')]
const faults: Readonly<Record<string, readonly [texts: Readonly<Record<string, string>>, message: RegExp]>> = {
  'JSON that breaks in the middle': [
    {
      'a.json': printed(whole('z')),
      'b.json': `${printed([olmPackage('b')])}${printed([bundle('b')]).replace('"image"', 'image')}`,
    },
    /^the catalog: b\.json, line 10, byte 141: a key was expected, not "i" \(package "b"\)$/,
  ],
  'a file that is cut': [
    { 'a.json': printed(whole('a')).slice(0, -20) },
    /a\.json, line \d+, byte \d+: the file ends inside a document \(package "a"\)/,
  ],
  'YAML that breaks in the middle': [
    { 'a.yaml': `${stringify(olmPackage('a'))}---\nschema: olm.bundle\nname: a.v1\npackage: a\n\timage: x\n` },
    /a\.yaml, line 8, byte \d+: .*tab.* \(package "a"\)/i,
  ],
  'a bundle that is there twice': [
    { '2.json': printed(whole('a')), '3.json': printed([bundle('a')]) },
    /3\.json, line 1, byte 0: the bundle "a\.v1" is there twice: the first is at 2\.json, byte \d+ \(package "a"\)/,
  ],
  'a bundle that is there twice in one file': [
    { 'a.json': printed(olmBundleTwice) },
    /a\.json, line \d+, byte \d+: the bundle "a\.v1" is there twice: the first is at a\.json, byte 0 /,
  ],
  'a channel that is there twice': [
    { f: printed([...whole('a'), channel('a')]) },
    /the channel "stable" is there twice/,
  ],
  'a package that is there twice': [
    { f: printed(whole('a')), g: printed([olmPackage('a')]) },
    /g, .* package "a" is there twice/,
  ],
  'deprecations that are there twice': [
    { f: printed([...whole('a'), ...Array.from({ length: 2 }, () => ({ schema: 'olm.deprecations', package: 'a' }))]) },
    /olm\.deprecations of "a" is there twice/,
  ],
  'an entry that is there twice': [
    { f: printed([olmPackage('a'), channel('a', [{ name: 'x' }, { name: 'x' }])]) },
    /the channel "stable" has the entry "x" twice \(package "a"\)/,
  ],
  'a bundle of no package': [
    { f: printed([bundle('a')]) },
    /olm\.bundle "a\.v1" is of the package "a", which the catalog does not have/,
  ],
  'a channel of no package': [{ f: printed([channel('a')]) }, /olm\.channel "stable" is of the package "a"/],
  'a bundle for another package': [
    { f: printed([olmPackage('b'), { ...bundle('a'), package: 'b' }]) },
    /its property olm\.package is for the package "a" \(package "b"\)/,
  ],
  'YAML that is no mapping': [
    { 'README.md': '# A heading\nand a text\n' },
    /README\.md, line 2, byte 12: the document is a text, not a mapping/,
  ],
  'a document without a schema': [{ f: '{"name": "a"}' }, /f, line 1, byte 0: the document has no "schema"/],
  'a name that is a number': [{ f: 'schema: olm.package\nname: 4.1\n' }, /"name" is the number 4\.1, not a text/],
  'properties that are no list': [
    { f: printed([olmPackage('a'), { ...bundle('a'), properties: {} }]) },
    /"properties" is a mapping, not a list/,
  ],
  'a package without a name': [{ f: '{"schema": "olm.package"}' }, /the package has no name/],
  'nothing at all': [{}, /the catalog is no catalog: it has no file of one/],
}
for (const [what, [texts, message]] of Object.entries(faults)) {
  test(`${what} is an error that says where`, async () => {
    await assert.rejects(read(texts), { code: 'CATALOG_INVALID', message })
    const turned = Object.fromEntries(Object.entries(texts).toReversed())
    await assert.rejects(read(turned), { code: 'CATALOG_INVALID', message })
  })
}

test('files that .indexignore excludes are not looked at, wherever it stands', async (t) => {
  const texts = {
    '.indexignore': 'README.md\n/drafts/\n*.txt\n!kept.txt\n',
    'README.md': '# none',
    'a/README.md': '# none',
    'a/catalog.json': printed(whole('a')),
    'a/.indexignore': '# only here\n\nold*.json\n',
    'a/old.json': 'broken',
    'b/old.json': printed(whole('b')),
    'drafts/c.json': printed(whole('c')),
    'd/drafts/d.json': printed(whole('d')),
    'e/kept.txt': printed(whole('e')),
    'e/other.txt': 'broken',
  }
  const names = ['a', 'b', 'd', 'e']
  assert.deepEqual(namesOf(await read(texts)), names)
  assert.deepEqual(namesOf(await read(Object.fromEntries(Object.entries(texts).toReversed()))), names)
  assert.deepEqual(namesOf(await readCatalog(catalogFilesOfDirectory(await directoryOf(t, texts)))), names)
})

test('links in a directory are read where they stay in it, and refused where they do not', async (t) => {
  const directory = await directoryOf(t, {
    'in/a.json': printed(whole('a')),
    'in/.indexignore': 'a.json',
    'out.json': '{}',
  })
  const inside = join(directory, 'in')
  await symlink('a.json', join(inside, 'link.json'))
  assert.deepEqual(namesOf(await readCatalog(catalogFilesOfDirectory(inside))), ['a'])
  await symlink('../out.json', join(inside, 'escape.json'))
  await assert.rejects(readCatalog(catalogFilesOfDirectory(inside)), {
    code: 'LAYER_UNSAFE',
    message: /escape\.json leads to .*out\.json/,
  })
})

test('a directory that is not there is named', async (t) => {
  const directory = join(await tempDir(t), 'none')
  await assert.rejects(readCatalog(catalogFilesOfDirectory(directory)), {
    code: 'FILE_UNREADABLE',
    message: /none.*ENOENT/,
  })
})

test('progress is told after every file, and a signal ends the reading', async () => {
  const seen: unknown[] = []
  const texts = { a: printed(whole('a')), b: printed(whole('b')) }
  await readCatalog(filesOf(texts), { onProgress: ({ files, documents }) => seen.push([files, documents]) })
  assert.deepEqual(seen, [
    [1, 3],
    [2, 6],
  ])
  const stop = new AbortController()
  const reading = readCatalog(filesOf(texts), { signal: stop.signal, onProgress: () => stop.abort() })
  await assert.rejects(reading, { name: 'AbortError' })
  const inTheMiddle = new AbortController()
  async function* open() {
    yield Buffer.from(printed([olmPackage('a')]))
    inTheMiddle.abort()
    for (;;) yield Buffer.from(printed([olmPackage('a')]))
  }
  async function* files() {
    yield { path: 'endless', size: 1, open }
  }
  const endless = readCatalog({ origin: 'the catalog', files }, { signal: inTheMiddle.signal })
  await assert.rejects(endless, { name: 'AbortError' })
})
