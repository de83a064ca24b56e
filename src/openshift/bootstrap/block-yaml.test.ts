import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { parseBlockYaml } from './block-yaml.ts'

test('what Kubernetes writes is read: mappings, sequences at the depth of their key, mappings in sequences', () => {
  const text = `# a mirror set
apiVersion: operator.openshift.io/v1alpha1
kind: ImageContentSourcePolicy
metadata:
  name: operators
  labels: {}
  creationTimestamp: null
spec:
  repositoryDigestMirrors:
  - mirrors:
    - mirror.lab:8443/a/b
    source: registry.redhat.io/a
  - source: "quay.io/x"
    mirrors:
      - 'm.lab/x'
`
  assert.deepEqual(parseBlockYaml(text), parse(text))
})

const refused = [
  'a: |\n  text\n',
  'a: &x 1\nb: *x\n',
  'a: {b: c}\n',
  'a: b # comment\n',
  'a: 1\n',
  'a: 2020-01-01\n',
  'a: b\na: c\n',
  'a: b\n---\nc: d\n',
  'a: b\n  c\n',
  '- - a\n',
  'a: yes\n',
  'a: b: c\n',
  'a:\n  - b\n c: d\n',
]

for (const text of refused) {
  test(`what is not plain is left to YAML: ${JSON.stringify(text)}`, () => {
    assert.equal(parseBlockYaml(text), undefined)
  })
}

const word = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_./@:^+~!'"#&*{}[\] -]{0,12}$/),
  fc.constantFrom(
    'null',
    'true',
    '1e3',
    '0x1f',
    '1:20',
    '12_000',
    '.5',
    'y',
    'quay.io/a/b@sha256:00',
    '2020-01-01',
    '-',
    '',
  ),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, word, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
  list: fc.array(tie('any'), { maxLength: 4 }),
  map: fc.dictionary(fc.stringMatching(/^[A-Za-z_.0-9-]{1,6}$/), tie('any'), { maxKeys: 4 }),
})).any

test('of any document: it says what YAML says, or nothing', () => {
  fc.assert(
    fc.property(value, fc.boolean(), (document, isIndented) => {
      const text = stringify(document, { indentSeq: isIndented, lineWidth: 0 })
      const fast = parseBlockYaml(text)
      if (fast !== undefined) assert.deepEqual(fast, parse(text))
    }),
    { numRuns: 1000 },
  )
})

const pieces = fc.array(
  fc.constantFrom(
    'a:',
    ' b: c',
    '- d',
    '  - e: f',
    '    g: h',
    '-',
    '  -',
    'i: "j"',
    '  k',
    'l: m.n/o:1',
    '',
    '   p: q',
    'r:  s',
    '- t:u',
    '-  v: w',
    '   x: y',
  ),
  { maxLength: 8 },
)

test('of any lines, broken ones too: it says what YAML says, or nothing', () => {
  fc.assert(
    fc.property(pieces, (lines) => {
      const text = lines.join('\n')
      const fast = parseBlockYaml(text)
      if (fast !== undefined) assert.deepEqual(fast, parse(text), text)
    }),
    { numRuns: 3000 },
  )
})

const resources = '../shared/data/cluster-resources'

test('real mirror sets are plain, and read as YAML reads them', (t) => {
  if (!existsSync(resources)) return t.skip(`${resources} is not here`)
  let plain = 0
  for (const name of readdirSync(resources).filter((file) => file.endsWith('.yaml'))) {
    const text = readFileSync(`${resources}/${name}`, 'utf8')
    const documents = parseAllDocuments(text)
    const fast = parseBlockYaml(text.replace(/^---\n/, ''))
    if (fast === undefined || documents.length !== 1) continue
    plain += 1
    assert.deepEqual(fast, parse(text), name)
  }
  assert.ok(plain > 5, `${plain} plain files`)
})
