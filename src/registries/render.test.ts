import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { repositoryName } from '../oci/reference.ts'
import { checkEntries } from './check-entries.ts'
import { parseRegistriesConf } from './parse.ts'
import type { PullFromMirror, RegistriesConf } from './registries-conf.ts'
import { renderRegistriesConf } from './render.ts'
import { resolveEndpoints } from './resolve.ts'

const origin = 'r.conf'
const hosts = fc.constantFrom('a.b', 'c.a.b', 'c.a.b:5000', 'localhost:5000', 'quay.io', 'm.lab:8443')
const places = fc.tuple(hosts, fc.constantFrom('', '/ns', '/ns/repo', '/ns/other')).map((parts) => parts.join(''))
const uses = fc.constantFrom<PullFromMirror>('all', 'digest-only', 'tag-only')

const entries = fc
  .record({
    scope: fc.oneof(
      fc.record({ prefix: places, location: places }),
      places.map((location) => ({ prefix: location, location })),
      fc.record({ prefix: fc.constantFrom('*.b', '*.a.b'), location: fc.oneof(fc.constant(''), places) }),
    ),
    mirrorByDigestOnly: fc.boolean(),
    mirrors: fc.array(fc.record({ location: places, insecure: fc.boolean(), use: fc.option(uses) }), { maxLength: 3 }),
  })
  .map(({ scope, mirrorByDigestOnly, mirrors }) => ({
    ...scope,
    mirrorByDigestOnly,
    // What is said of a place must be the same wherever it is named.
    insecure: scope.location.startsWith('localhost'),
    blocked: scope.location.endsWith('/ns'),
    mirrors: mirrors.map(({ location, insecure, use }) => ({
      location,
      insecure,
      ...(use !== null && !mirrorByDigestOnly && { pullFromMirror: use }),
    })),
    origin,
  }))

const confs: fc.Arbitrary<RegistriesConf> = fc.record(
  {
    registries: fc.array(entries, { maxLength: 5 }).map(checkEntries),
    unqualifiedSearchRegistries: fc.array(hosts, { maxLength: 2 }),
    shortNameMode: fc.constantFrom('disabled', 'enforcing', 'permissive'),
    credentialHelpers: fc.array(fc.string(), { maxLength: 2 }),
    additionalLayerStoreAuthHelper: fc.string({ minLength: 1 }),
    aliases: fc.dictionary(fc.constantFrom('x', 'ns/x', 'x-y_z'), fc.constantFrom('', 'a.b/c', 'localhost:5000/c'), {
      noNullPrototype: true,
    }),
  },
  { requiredKeys: ['registries'], noNullPrototype: true },
)

const references = fc.record(
  {
    registry: hosts,
    repository: fc.constantFrom('ns', 'ns/repo', 'ns/repo/deep', 'other'),
    tag: fc.constantFrom('1', 'latest'),
    digest: fc.constant<`sha256:${string}`>(`sha256:${'ab'.repeat(32)}`),
  },
  { requiredKeys: ['registry', 'repository'], noNullPrototype: true },
)

test('what is rendered reads back as the same configuration', () => {
  fc.assert(
    fc.property(confs, (conf) => {
      const text = renderRegistriesConf(conf)
      assert.deepEqual(parseRegistriesConf(text, origin), conf)
      assert.equal(renderRegistriesConf(parseRegistriesConf(text, origin)), text)
    }),
  )
})

test('an endpoint stands in the configuration; the source comes last; every mirror is used or told why not', () => {
  fc.assert(
    fc.property(confs, references, (conf, reference) => {
      const resolution = resolved(conf, reference)
      if (resolution === undefined) return
      const { endpoints, skipped, matchedPrefix } = resolution
      const entry = conf.registries.find(({ prefix }) => prefix === matchedPrefix)
      const locations = [...(entry?.mirrors ?? []), { location: entry?.location ?? '' }].map(({ location }) => location)
      const places = locations.map((location) => location || repositoryName(reference))
      for (const endpoint of endpoints) {
        assert.ok(places.some((location) => repositoryName(endpoint.reference).startsWith(location)))
        assert.ok(endpoint.reference.digest === undefined || endpoint.reference.tag === undefined)
      }
      assert.deepEqual(
        endpoints.map(({ isMirror }) => isMirror),
        endpoints.map((_, index) => index < endpoints.length - 1),
      )
      assert.equal(endpoints.length + skipped.length, 1 + (entry?.mirrors.length ?? 0))
    }),
  )
})

/** Undefined where rewriting makes no reference, as a port after a path. */
function resolved(conf: RegistriesConf, reference: Parameters<typeof resolveEndpoints>[1]) {
  try {
    return resolveEndpoints(conf, reference)
  } catch (error) {
    assert.equal(error instanceof Error && 'code' in error && error.code, 'REFERENCE_REWRITE_INVALID')
    return undefined
  }
}
