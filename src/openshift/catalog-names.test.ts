import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestOf, hexOf } from '../oci/digest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { catalogFileName, catalogName, isSameCatalog, nameCatalogs } from './catalog-names.ts'

const free = () => undefined

function catalog(text: string, name?: string) {
  return { destination: parseReference(text), ...(name !== undefined && { name }) }
}

test('catalogs have the names that oc-mirror gives them', () => {
  const names: Readonly<Record<string, string>> = {
    'reg.lab/redhat/redhat-operator-index:v4.18': 'cs-redhat-operator-index-v4-18',
    'reg.lab:8443/ocp/redhat-operator-index:V4.18_Custom-long': 'cs-redhat-operator-index-v4-18-custom',
    'reg.lab/a/community.operator.index:latest': 'cs-community-operator-index-latest',
    'reg.lab/a/index': 'cs-index-0',
    [`reg.lab/a/index@${digestOf('x')}`]: `cs-index-${hexOf(digestOf('x')).slice(0, 12)}`,
    [`reg.lab/a/index:sha256-${hexOf(digestOf('x'))}`]: `cs-index-sha256-${hexOf(digestOf('x')).slice(0, 5)}`,
  }
  for (const [image, name] of Object.entries(names)) assert.equal(catalogName('cs', parseReference(image)), name)
  assert.equal(catalogName('cc', parseReference('reg.lab/a/index:v4.18')), 'cc-index-v4-18')
})

test('a name that oc-mirror would stop at is made one that a cluster takes', () => {
  assert.equal(catalogName('cs', parseReference('reg.lab/a/my_index:v4.18-alpha-1')), 'cs-my-index-v4-18-alpha')
  const long = catalogName('cs', parseReference(`reg.lab/a/${'i'.repeat(80)}:v4.18`))
  assert.equal(long.length, 63)
})

test('two catalogs with one name get two, the same in whatever order they are listed', () => {
  const [a, b] = [catalog('reg.lab/a/index:v4.18'), catalog('reg.lab/b/index:v4.18')]
  const [first = '', second = ''] = nameCatalogs('cs', [a, b], free)
  assert.equal(first, 'cs-index-v4-18')
  assert.match(second, /^cs-index-v4-18-[0-9a-f]{8}$/)
  assert.deepEqual(nameCatalogs('cs', [b, a], free), [second, first])
})

test('a catalog keeps the name that it had before, whoever comes beside it', () => {
  const [a, b] = [catalog('reg.lab/a/index:v4.18'), catalog('reg.lab/b/index:v4.18')]
  const holderOf = (name: string) => (name === 'cs-index-v4-18' ? 'reg.lab/b/index:v4.18' : undefined)
  const [forA = '', forB = ''] = nameCatalogs('cs', [a, b], holderOf)
  assert.equal(forB, 'cs-index-v4-18')
  assert.match(forA, /^cs-index-v4-18-[0-9a-f]{8}$/)
})

test('a chosen name is taken as it is; two catalogs cannot have it', () => {
  const chosen = catalog('reg.lab/a/index:v4.18', 'redhat-operators')
  assert.deepEqual(nameCatalogs('cs', [chosen], free), ['redhat-operators'])
  const refused = { code: 'CONFIG_INVALID', message: /redhat-operators/ }
  const twice = [chosen, catalog('reg.lab/b/index:v4.18', 'redhat-operators')]
  assert.throws(() => nameCatalogs('cs', twice, free), refused)
  const sameFile = [chosen, catalog('reg.lab/b/index:v4.18', 'cs-redhat-operators')]
  assert.throws(() => nameCatalogs('cs', sameFile, free), { code: 'CONFIG_INVALID' })
  for (const name of ['', 'A', '4', 'a.b', 'a-', 'a'.repeat(64)])
    assert.throws(() => nameCatalogs('cs', [catalog('reg.lab/a/index:v4.18', name)], free), { code: 'CONFIG_INVALID' })
})

test('the image of an earlier file is recognised at another registry, and where somebody pinned it', () => {
  const destination = parseReference('reg.lab/a/index:v4.18')
  assert.ok(isSameCatalog('old.lab:5000/a/index:v4.18', destination))
  assert.ok(isSameCatalog(`reg.lab/a/index@${digestOf('x')}`, destination))
  for (const other of ['reg.lab/a/index:v4.19', 'reg.lab/b/index:v4.18', 'No Reference', ''])
    assert.ok(!isSameCatalog(other, destination), other)
})

const part = fc.constantFrom('redhat', 'index', 'a', 'b.c', 'x_y', 'operator-index')
const tag = fc.constantFrom('v4.18', 'v4.19', 'v4.18-20260101-a', 'v4.18-20260101-b', 'latest', 'V4.18', '___')
const image = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 3 }), tag)
  .map(([path, version]) => ({ registry: 'reg.lab', repository: path.join('/'), tag: version }))

test('names are distinct, are labels, and are the same again in the next run with more or fewer catalogs', () => {
  fc.assert(
    fc.property(fc.uniqueArray(image, { selector: formatReference, maxLength: 6 }), fc.nat(6), (images, at) => {
      const catalogs = images.map((destination) => ({ destination }))
      const [early, late] = [catalogs.slice(0, at), catalogs.slice(at)]
      const files = new Map<string, string>()
      const run = (wanted: typeof catalogs) => {
        const names = nameCatalogs('cs', wanted, (name) => files.get(name))
        for (const [index, one] of wanted.entries()) files.set(names[index] ?? '', formatReference(one.destination))
        return names
      }
      const before = run(early)
      assert.deepEqual([...before, ...run(late)], run([...early, ...late]))
      assert.equal(files.size, catalogs.length)
      for (const name of files.keys()) {
        assert.match(name, /^cs-[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/)
        assert.ok(name.length <= 63 && catalogFileName('cs', name) === name)
      }
    }),
  )
})
