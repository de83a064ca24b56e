import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatReference, parseReference } from '../oci/reference.ts'
import { parseRegistriesConf } from './parse.ts'
import { resolveEndpoints } from './resolve.ts'

/** What the real skopeo 1.9.3 did: `tried` in order, `blocked` the prefixes that forbade one of them. */
interface Vector {
  readonly name: string
  readonly registriesConf: string
  readonly ref: string
  readonly tried: readonly string[]
  readonly blocked: readonly string[]
  readonly error: string
}

const vectorFile = '../shared/data/installer/mirror/mirror-resolution-vectors.json'

test('every recorded pull of skopeo tries the same endpoints here, in the same order', (t) => {
  if (!existsSync(vectorFile)) return t.skip(`${vectorFile} is not here`)
  const { cases }: { cases: readonly Vector[] } = JSON.parse(readFileSync(vectorFile, 'utf8'))
  assert.ok(cases.length >= 38)
  for (const vector of cases) {
    // skopeo 1.9 refuses these; podman and CRI-O take the digest, and so does this.
    if (vector.error.includes('both a tag and digest')) continue
    assert.deepEqual(outcome(vector), { tried: vector.tried, blocked: vector.blocked }, vector.name)
  }
})

function outcome({ registriesConf, ref }: Vector) {
  try {
    const { endpoints } = resolveEndpoints(parseRegistriesConf(registriesConf, 'r.conf'), parseReference(ref))
    return {
      tried: endpoints.map(({ reference }) => formatReference(reference)),
      blocked: endpoints.flatMap(({ blockedBy }) => blockedBy ?? []),
    }
  } catch (error) {
    assert.match(String((error as { code?: string }).code), /^(REGISTRIES_CONF_INVALID|REFERENCE_REWRITE_INVALID)$/)
    return { tried: [], blocked: [] }
  }
}

const digest = `sha256:${'5'.repeat(64)}`

function triedFor(configuration: string, reference: string): readonly string[] {
  const { endpoints } = resolveEndpoints(parseRegistriesConf(configuration, 'r.conf'), parseReference(reference))
  return endpoints.map((endpoint) => formatReference(endpoint.reference))
}

test('without an entry an image is read from where its name says, neither mirrored nor insecure', () => {
  const { endpoints, matchedPrefix } = resolveEndpoints(
    parseRegistriesConf('', 'r.conf'),
    parseReference('quay.io/x/y:1'),
  )
  assert.equal(matchedPrefix, undefined)
  assert.equal(endpoints.length, 1)
  assert.deepEqual(endpoints[0]?.reference, { registry: 'quay.io', repository: 'x/y', tag: '1' })
  assert.equal(endpoints[0]?.insecure, false)
})

test('a tag beside a digest is left out, as podman and CRI-O do; a bare name means latest', () => {
  const mirrored =
    '[[registry]]\nlocation = "quay.io"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "m.lab/q"'
  assert.deepEqual(triedFor(mirrored, `quay.io/x/y:1@${digest}`), [`m.lab/q/x/y@${digest}`, `quay.io/x/y@${digest}`])
  assert.deepEqual(triedFor(mirrored, 'quay.io/x/y'), ['quay.io/x/y:latest'])
})

test('one location that makes no reference ends the pull, whatever the other mirrors are', () => {
  const mirrors = '[[registry.mirror]]\nlocation = "good.lab:5000"\n[[registry.mirror]]\nlocation = "m.lab/path"'
  assert.throws(() => triedFor(`[[registry]]\nlocation = "reg.lab"\n${mirrors}`, 'reg.lab:5000/x:1'), {
    code: 'REFERENCE_REWRITE_INVALID',
    details: { reference: 'reg.lab:5000/x:1', rewritten: 'good.lab:5000:5000/x:1', prefix: 'reg.lab', file: 'r.conf' },
  })
  // A mirror without a dot would silently be a path on Docker Hub; containers/image refuses it instead.
  assert.throws(
    () => triedFor('[[registry]]\nlocation = "reg.lab"\n[[registry.mirror]]\nlocation = "mirror"', 'reg.lab/x'),
    {
      code: 'REFERENCE_REWRITE_INVALID',
      cause: new Error('repository name must be canonical'),
    },
  )
})

test('each endpoint has its own insecure flag, and is blocked by the entry of its own place', () => {
  const configuration = `
    [[registry]]
    location = "quay.io"
    [[registry.mirror]]
    location = "m.lab/q"
    insecure = true
    [[registry.mirror]]
    location = "blocked.lab/q"
    [[registry]]
    prefix = "*.lab"
    [[registry]]
    location = "blocked.lab"
    blocked = true`
  const { endpoints } = resolveEndpoints(parseRegistriesConf(configuration, 'r.conf'), parseReference('quay.io/x:1'))
  assert.deepEqual(
    endpoints.map(({ insecure, blockedBy }) => ({ insecure, blockedBy })),
    [
      { insecure: true, blockedBy: undefined },
      { insecure: false, blockedBy: 'blocked.lab' },
      { insecure: false, blockedBy: undefined },
    ],
  )
  assert.match(endpoints[1]?.why ?? '', /registry blocked\.lab is blocked in r\.conf/)
})

test('a mirror that is not used is told with the setting that says so', () => {
  const configuration =
    '[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\nlocation = "t.lab"\npull-from-mirror = "tag-only"'
  const { skipped } = resolveEndpoints(
    parseRegistriesConf(configuration, 'r.conf'),
    parseReference(`quay.io/x@${digest}`),
  )
  assert.deepEqual(skipped, [
    { location: 't.lab', why: 'pull-from-mirror = "tag-only", and the image is asked for by digest' },
  ])
})

test('a wildcard covers hosts under its domain, found at the first place where the domain stands', () => {
  const triedUnder = (reference: string) =>
    triedFor('[[registry]]\nprefix = "*.a.lab"\nlocation = "m.lab/a"', reference)
  assert.deepEqual(triedUnder('x.y.a.lab/r:1'), ['m.lab/a/r:1'])
  assert.deepEqual(triedUnder('a.lab/r:1'), ['a.lab/r:1'])
  assert.deepEqual(triedUnder('b.lab/x.a.lab/r:1'), ['b.lab/x.a.lab/r:1'])
  // The later occurrence would match; containers/image does not look for it.
  assert.deepEqual(triedUnder('x.a.lab.a.lab/r:1'), ['x.a.lab.a.lab/r:1'])
})

test('of two prefixes with the same length the one that sorts first decides: a wildcard before a host', () => {
  const entries =
    '[[registry]]\nprefix = "a.lab"\nlocation = "host.lab"\n[[registry]]\nprefix = "*.lab"\nlocation = "wild.lab"'
  assert.deepEqual(triedFor(entries, 'a.lab/x:1'), ['wild.lab/x:1'])
})
