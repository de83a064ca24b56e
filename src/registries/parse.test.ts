import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { KnownError } from '../errors/known-error.ts'
import { parseRegistriesConf } from './parse.ts'
import { mergeRegistriesConf } from './registries-conf.ts'

const corpus = '../shared/data/registries-conf'

/** Real files that the real skopeo refuses as well, and why. */
const refusedFiles: readonly (readonly [name: string, why: RegExp])[] = [
  ['testdata-blocked-conflicts.conf', /registry 'registry.com' is defined multiple times with conflicting 'blocked'/],
  ['testdata-find-registry.conf.68cf859.conf', /location is unset and prefix is not in the format: \*\.example\.com/],
  ['testdata-invalid-location.conf.b8917ab.conf', /invalid location 'http:.*': URI schemes are not supported/],
  ['testdata-invalid-prefix.conf', /invalid location 'http:.*': URI schemes are not supported/],
  ['testdata-invalid-value-mirror.conf', /unsupported pull-from-mirror value "notvalid" for mirror/],
  ['testdata-missing-registry-location.conf.6c8c180.conf', /both location and prefix are unset/],
  ['testdata-missing-registry-location.conf.cf97b65.conf', /both location and prefix are unset/],
  ['testdata-mixing-v1-v2.conf', /mixing sysregistry v1\/v2 is not supported/],
  ['testdata-mixing-v1-v2.conf.941c10a.conf', /mixing sysregistry v1\/v2 is not supported/],
  ['broken-newlines-registries.conf', /:1:76: .*end-of-line/],
  ['v2-internal-e2e-templates-regisitries.conf.8199b27.conf', /:1:1: .*illegal character/],
]

test('real files are read, or refused as skopeo refuses them', (t) => {
  if (!existsSync(corpus)) return t.skip(`${corpus} is not here`)
  const refused = new Map<string, string>()
  const names = readdirSync(corpus).filter((name) => name.endsWith('.conf'))
  for (const name of names) {
    try {
      parseRegistriesConf(readFileSync(join(corpus, name), 'utf8'), name)
    } catch (error) {
      assert.ok(error instanceof KnownError && error.code === 'REGISTRIES_CONF_INVALID', name)
      refused.set(name, error.message)
    }
  }
  assert.ok(names.length >= 40)
  assert.equal(refused.size, refusedFiles.length, [...refused.keys()].join('\n'))
  for (const [ending, why] of refusedFiles) {
    const [, message = ''] = [...refused].find(([name]) => name.endsWith(ending)) ?? []
    assert.match(message, why, ending)
  }
})

test('broken TOML is told with its file, line and column', () => {
  assert.throws(() => parseRegistriesConf('[[registry]]\nlocation = quay.io\n', '/etc/r.conf'), {
    code: 'REGISTRIES_CONF_INVALID',
    exitCode: 78,
    details: { file: '/etc/r.conf', line: 2, column: 12 },
  })
})

const refusedTexts: readonly (readonly [text: string, message: string])[] = [
  ['[[registry]]\nlocation = 1', 'registry.location must be a string'],
  ['[[registry]]\nlocation = "a.b"\nblocked = "true"', 'registry.blocked must be true or false'],
  ['[registry]\nlocation = "a.b"', 'registry must be a list of tables ([[registry]])'],
  [
    '[[registry]]\nlocation = "a.b"\npull-from-mirror = "all"',
    'pull-from-mirror must not be set for a non-mirror registry "a.b"',
  ],
  [
    '[[registry]]\nlocation = "a.b"\n[[registry.mirror]]\ninsecure = true',
    'invalid condition: mirror location is unset',
  ],
  [
    '[[registry]]\nlocation = "a.b"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "m.b/x"\npull-from-mirror = "all"',
    'cannot set mirror usage mirror-by-digest-only for the registry ("a.b") and pull-from-mirror for per-mirror ("m.b/x") at the same time',
  ],
  [
    '[[registry]]\nprefix = "*.b:5000"',
    'Wildcarded prefix should be in the format: *.example.com. Current prefix "*.b:5000" is incorrectly formatted',
  ],
  ['unqualified-search-registries = ["a.b/c"]', 'Invalid unqualified-search-registries entry "a.b/c"'],
  ['short-name-mode = "never"', 'invalid short-name mode: "never"'],
  ['[aliases]\n"a.b/c" = "d.e/f"', 'invalid short name "a.b/c": must not contain registry'],
  ['[aliases]\nc = "d/f"', 'invalid alias "d/f": must contain registry and repository'],
  ['[aliases]\nc = "d.e/f:1"', 'invalid alias "d.e/f:1": must not contain tag'],
]

for (const [text, message] of refusedTexts) {
  test(`refused as containers/image refuses it: ${message}`, () => {
    assert.throws(() => parseRegistriesConf(text, 'r.conf'), { message: `r.conf: ${message}` })
  })
}

test('of two entries with one prefix the first counts; keys match without regard to case; unknown keys are passed over', () => {
  const { registries } = parseRegistriesConf(
    '[[registry]]\nLocation = "b.c/"\nnew-key = 1\n[[registry]]\nlocation = "b.c"\n[[registry.mirror]]\nlocation = "m.c"\n[[registry]]\nprefix="a.b"\nlocation="z.b"',
    'r.conf',
  )
  assert.deepEqual(
    registries.map(({ prefix, location, mirrors }) => ({ prefix, location, mirrors: mirrors.length })),
    [
      { prefix: 'a.b', location: 'z.b', mirrors: 0 },
      { prefix: 'b.c', location: 'b.c', mirrors: 0 },
    ],
  )
})

const versionOne =
  '[registries.search]\nregistries = ["s.b"]\n[registries.insecure]\nregistries = ["i.b"]\n[registries.block]\nregistries = ["i.b", "x.b"]'

test('version 1 is converted, and refused in a drop-in', () => {
  const conf = parseRegistriesConf(versionOne, 'r.conf')
  assert.deepEqual(conf.unqualifiedSearchRegistries, ['s.b'])
  assert.deepEqual(
    conf.registries.map(({ prefix, blocked, insecure }) => ({ prefix, blocked, insecure })),
    [
      { prefix: 'i.b', blocked: true, insecure: true },
      { prefix: 'x.b', blocked: true, insecure: false },
    ],
  )
  assert.throws(() => parseRegistriesConf(versionOne, 'd.conf', { isDropIn: true }), {
    message: 'd.conf: registry must be in v2 format but is in v1',
  })
})

test('a drop-in replaces whole entries, and settings only where it has them', () => {
  const main = parseRegistriesConf(
    'unqualified-search-registries = ["a.b"]\nshort-name-mode = "enforcing"\n[aliases]\nx = "a.b/x"\ny = "a.b/y"\n[[registry]]\nlocation = "a.b"\n[[registry.mirror]]\nlocation = "m.b"\n[[registry]]\nlocation = "c.b"',
    'main.conf',
  )
  const dropIn = parseRegistriesConf(
    'unqualified-search-registries = []\n[aliases]\nx = ""\n[[registry]]\nlocation = "a.b"\nblocked = true',
    'drop-in.conf',
    { isDropIn: true },
  )
  const merged = mergeRegistriesConf(main, [dropIn])
  assert.deepEqual(merged.unqualifiedSearchRegistries, [])
  assert.equal(merged.shortNameMode, 'enforcing')
  assert.deepEqual(merged.aliases, { x: '', y: 'a.b/y' })
  assert.deepEqual(
    merged.registries.map(({ prefix, blocked, mirrors, origin }) => [prefix, blocked, mirrors.length, origin]),
    [
      ['a.b', true, 0, 'drop-in.conf'],
      ['c.b', false, 0, 'main.conf'],
    ],
  )
})
