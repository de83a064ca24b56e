import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { tempDir } from '../../testkit/temp-dir.ts'
import { KnownError } from '../errors/known-error.ts'
import { parseReference } from '../oci/reference.ts'
import { parsePolicy, requirementsFor } from './policy.ts'
import { loadPolicy } from './policy-file.ts'
import { parseStrictJson } from './policy-json.ts'

const accept = [{ type: 'insecureAcceptAnything' }]
const reject = [{ type: 'reject' }]
const data = '../shared/data'

test('a complete policy is read, every requirement with its place', () => {
  const text = JSON.stringify({
    default: reject,
    transports: { docker: { 'quay.io/ns': [{ type: 'sigstoreSigned', keyPath: '/k.pub' }, ...accept] }, dir: {} },
  })
  const policy = parsePolicy(text, 'policy.json')
  const { place, requirements } = requirementsFor(policy, parseReference('quay.io/ns/a:1'))
  assert.equal(place, 'transports.docker."quay.io/ns"')
  assert.deepEqual(requirements, [
    {
      type: 'sigstoreSigned',
      place: 'transports.docker."quay.io/ns"[0]',
      line: 1,
      keys: { kind: 'paths', paths: ['/k.pub'] },
      identity: { type: 'matchRepoDigestOrExact' },
    },
    { type: 'insecureAcceptAnything', place: 'transports.docker."quay.io/ns"[1]', line: 1 },
  ])
  assert.equal(requirementsFor(policy, parseReference('quay.io/other:1')).place, 'default')
})

test('the closest scope decides alone, then the default of the transport, then that of the policy', () => {
  const digest = `sha256:${'a'.repeat(64)}`
  const scopes = ['h.test/ns/a:1', `h.test/ns/a@${digest}`, 'h.test/ns/a', 'h.test/ns', 'h.test', '*.test', '']
  const docker = Object.fromEntries(scopes.map((scope) => [scope, accept]))
  const placeOf = (name: string, without: readonly string[] = []) => {
    const left = Object.fromEntries(Object.entries(docker).filter(([scope]) => !without.includes(scope)))
    const policy = parsePolicy(JSON.stringify({ default: reject, transports: { docker: left } }), 'p.json')
    return requirementsFor(policy, parseReference(name)).place
  }
  const place = (scope: string) => `transports.docker."${scope}"`
  const widest = scopes.filter((scope) => scope !== `h.test/ns/a@${digest}`)
  for (const [index, scope] of widest.entries())
    assert.equal(placeOf('h.test/ns/a:1', widest.slice(0, index)), place(scope))
  assert.equal(placeOf('h.test/ns/a:1', scopes), 'default')
  assert.equal(placeOf(`h.test/ns/a@${digest}`), place(`h.test/ns/a@${digest}`))
  assert.equal(placeOf('h.test/ns/a:2'), place('h.test/ns/a'))
})

const key = Buffer.from('k').toString('base64')
const fulcio = { caData: key, oidcIssuer: 'https://i.test', subjectEmail: 'a@b.test' }
const requirements: readonly (readonly [title: string, requirement: object, message: RegExp])[] = [
  ['an unknown type', { type: 'signed' }, /type "signed" is unknown/],
  ['no type', {}, /\.type is missing/],
  ['a field too many', { type: 'reject', keyPath: '/a' }, /unknown field "keyPath"/],
  ['an unknown key type', { type: 'signedBy', keyType: 'PGP', keyPath: '/a' }, /keyType "PGP" is unknown/],
  ['no key', { type: 'signedBy', keyType: 'GPGKeys' }, /needs one of keyPath/],
  ['two keys', { type: 'signedBy', keyType: 'GPGKeys', keyPath: '/a', keyData: key }, /keyPath and keyData; only one/],
  ['an empty path', { type: 'signedBy', keyType: 'GPGKeys', keyPath: '' }, /keyPath is empty/],
  ['no base64', { type: 'sigstoreSigned', keyData: '%%%' }, /keyData is not base64/],
  ['no list', { type: 'sigstoreSigned', keyPaths: '/a' }, /keyPaths must be a list/],
  ['an empty list', { type: 'sigstoreSigned', keyDatas: [] }, /keyDatas has no entries/],
  ['key and fulcio', { type: 'sigstoreSigned', keyData: key, fulcio, rekorPublicKeyData: key }, /exactly one of/],
  ['fulcio without a log', { type: 'sigstoreSigned', fulcio }, /has fulcio, and so needs/],
  [
    'fulcio without an issuer',
    { type: 'sigstoreSigned', fulcio: { caData: key, subjectEmail: 'a' }, rekorPublicKeyData: key },
    /oidcIssuer is missing/,
  ],
  [
    'pki with a log',
    { type: 'sigstoreSigned', pki: { caRootsData: key, subjectEmail: 'a' }, rekorPublicKeyData: key },
    /has pki, which goes with none/,
  ],
  ['pki without a subject', { type: 'sigstoreSigned', pki: { caRootsData: key } }, /needs one of subjectEmail/],
  [
    'an unknown identity',
    { type: 'sigstoreSigned', keyData: key, signedIdentity: { type: 'match' } },
    /"match" is unknown/,
  ],
  [
    'a reference without tag',
    { type: 'sigstoreSigned', keyData: key, signedIdentity: { type: 'exactReference', dockerReference: 'h.test/a' } },
    /neither tag nor digest/,
  ],
  [
    'a repository that is none',
    { type: 'sigstoreSigned', keyData: key, signedIdentity: { type: 'exactRepository', dockerRepository: 'A B' } },
    /not an image reference/,
  ],
  [
    'a prefix that is none',
    {
      type: 'sigstoreSigned',
      keyData: key,
      signedIdentity: { type: 'remapIdentity', prefix: '*.h.test', signedPrefix: 'h.test' },
    },
    /"\*\.h\.test" is no host/,
  ],
  ['a base layer without identity', { type: 'signedBaseLayer' }, /baseLayerIdentity is missing/],
]

for (const [title, requirement, message] of requirements) {
  test(`a requirement with ${title} is refused at its line`, () => {
    const text = `{\n  "default": [\n    ${JSON.stringify(requirement)}\n  ]\n}`
    assert.throws(
      () => parsePolicy(text, 'p.json'),
      (error) =>
        error instanceof KnownError &&
        error.code === 'POLICY_INVALID' &&
        /^p\.json:3: /.test(error.message) &&
        message.test(error.message),
    )
  })
}

const texts: readonly (readonly [title: string, text: string, message: RegExp])[] = [
  [
    'a key twice',
    '{"default":\n[{"type":"reject"}],\n"default":[{"type":"insecureAcceptAnything"}]}',
    /^p\.json:3: .*"default" stands twice/,
  ],
  ['an unknown section', '{"default":[{"type":"reject"}],"transport":{}}', /unknown field "transport"/],
  ['no default', '{"transports":{}}', /no "default"/],
  ['an empty list', '{"default":[]}', /at least one requirement/],
  ['something after its end', '{"default":[{"type":"reject"}]} {}', /something follows/],
  ['a comment', '{"default":[{"type":"reject"}] // no\n}', /a comma or \} is expected/],
  ['an early end', '{"default":[{"type":"rej', /a string does not end/],
  ['nothing', '', /ends too early/],
  ['a list', '[]', /must be an object, not a list/],
]

for (const [title, text, message] of texts) {
  test(`a policy with ${title} is refused`, () => {
    assert.throws(() => parsePolicy(text, 'p.json'), { code: 'POLICY_INVALID', message })
  })
}

test('everything that JSON.parse reads without a repeated key, this reads; and nothing else', () => {
  const plain = (node: ReturnType<typeof parseStrictJson>): unknown => {
    if (node.kind === 'object') return Object.fromEntries([...node.fields].map(([name, value]) => [name, plain(value)]))
    if (node.kind === 'array') return node.items.map(plain)
    if (node.kind === 'string') return node.text
    return node.kind === 'number' ? Number(node.text) : JSON.parse(node.kind)
  }
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (text, indent) => {
      const value: unknown = JSON.parse(text)
      // An own property of this name would set the prototype of what it is compared with.
      fc.pre(!text.includes('__proto__'))
      assert.deepEqual(plain(parseStrictJson(JSON.stringify(value, undefined, indent))), value)
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:0e-.tru\\ \n') }), (text) => {
      const parses = (parse: (text: string) => unknown) => {
        try {
          parse(text)
          return true
        } catch {
          return false
        }
      }
      assert.ok(!parses(parseStrictJson) || parses(JSON.parse), text)
    }),
  )
})

test('the named policy, else the user’s, else the system’s; none at all is an error', async (t) => {
  const root = await tempDir(t)
  const [home, systemDir] = [join(root, 'home'), join(root, 'etc')]
  const env = { HOME: home }
  await assert.rejects(loadPolicy({ env, systemDir }), { code: 'POLICY_INVALID', message: /There is no policy\.json/ })
  await mkdir(join(home, '.config/containers'), { recursive: true })
  await mkdir(systemDir)
  const text = JSON.stringify({ default: accept })
  await writeFile(join(systemDir, 'policy.json'), text)
  assert.equal((await loadPolicy({ env, systemDir })).file, join(systemDir, 'policy.json'))
  const own = join(home, '.config/containers/policy.json')
  await writeFile(own, text)
  assert.equal((await loadPolicy({ env, systemDir })).file, own)
  const named = join(root, 'named.json')
  await assert.rejects(loadPolicy({ env, systemDir, path: named }), { code: 'FILE_UNREADABLE' })
  await writeFile(named, text)
  assert.equal((await loadPolicy({ env, systemDir, path: named })).file, named)
})

test('policies that others ship are read', (t) => {
  const files = [
    'oci/signatures/containers-image__signature-fixtures-policy.json',
    'mirror/skopeo/policy.json',
    'mirror/oc-mirror/misc/insecure-accept-anything.json',
    'mirror/oc-mirror/misc/reject-all.json',
  ].map((file) => join(data, file))
  if (!files.every((file) => existsSync(file))) return t.skip('the shared data is not here')
  for (const file of files) assert.ok(parsePolicy(readFileSync(file, 'utf8'), file).default.requirements.length > 0)
})
