/**
 * The same random configurations and references to `resolveEndpoints` and to the real skopeo.
 *
 * Every host ends in `.invalid` (RFC 6761) and the proxy is a closed port of this machine, so nothing is reached, nor is
 * a name looked up; skopeo says in its debug log what it tries.
 *
 * What skopeo 1.9 does otherwise, and these configurations therefore leave out: it refuses a tag beside a digest, where
 * podman and CRI-O take the digest; and it does not trim a slash at the end of a mirror's location, which
 * containers/image does since.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { KnownError } from '../../src/errors/known-error.ts'
import { formatReference, parseReference } from '../../src/oci/reference.ts'
import { parseRegistriesConf } from '../../src/registries/parse.ts'
import { resolveEndpoints } from '../../src/registries/resolve.ts'
import { peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

interface Outcome {
  readonly refused?: 'configuration' | 'rewriting'
  readonly tried: readonly string[]
  readonly blocked: readonly string[]
}

const hosts = ['a.invalid', 'b.a.invalid', 'x.a.invalid.a.invalid', 'c.invalid:5000', 'c.invalid', 'm.invalid:8443']
const paths = ['', '/ns', '/ns/repo', '/ns/repo/deep', '/nsx']
const places = fc.tuple(fc.constantFrom(...hosts), fc.constantFrom(...paths)).map((parts) => parts.join(''))
const wildcards = fc.constantFrom('*.invalid', '*.a.invalid', '*.c.invalid')
const seldom = (weight: number) =>
  fc.oneof({ weight: 10, arbitrary: fc.constant(false) }, { weight, arbitrary: fc.constant(true) })

const mirrors = fc.record({
  location: places,
  insecure: fc.boolean(),
  use: fc.constantFrom('', '', 'all', 'digest-only', 'tag-only'),
})
const entries = fc.record({
  scope: fc.oneof(
    { weight: 20, arbitrary: places.map((location) => ({ prefix: '', location })) },
    { weight: 8, arbitrary: fc.record({ prefix: wildcards, location: fc.constant('') }) },
    { weight: 4, arbitrary: fc.record({ prefix: places, location: places }) },
    { weight: 4, arbitrary: fc.record({ prefix: wildcards, location: places }) },
    { weight: 1, arbitrary: fc.record({ prefix: places, location: fc.constant('') }) },
  ),
  isSlashed: fc.boolean(),
  blocked: seldom(2),
  byDigestOnly: fc.boolean(),
  mirrors: fc.array(mirrors, { maxLength: 3 }),
  broken: fc.oneof(
    { weight: 40, arbitrary: fc.constant('') },
    fc.constantFrom('pull-from-mirror = "all"', 'insecure = "yes"', 'mirror = "m.invalid"', 'location ='),
  ),
})
type Entry = typeof entries extends fc.Arbitrary<infer Value> ? Value : never

const configurations = fc.array(entries, { maxLength: 4 }).map((list) => list.map(entryText).join('\n'))
const references = fc
  .tuple(
    fc.constantFrom(...hosts),
    fc.constantFrom('/ns/repo', '/ns/repo/deep', '/ns/other', '/nsx', '/x.a.invalid'),
    fc.constantFrom('', ':1', `@sha256:${'a'.repeat(64)}`),
  )
  .map((parts) => parts.join(''))

/** Mirrors that say when they are used are refused beside `mirror-by-digest-only`; mostly that is not what is tested. */
function entryText(entry: Entry): string {
  const { prefix, location } = entry.scope
  const mayBeForbidden = entry.mirrors.length > 2
  return [
    '[[registry]]',
    ...(prefix === '' ? [] : [`prefix = "${prefix}"`]),
    ...(location === '' ? [] : [`location = "${location}${entry.isSlashed ? '/' : ''}"`]),
    ...(entry.blocked ? ['blocked = true'] : []),
    ...(entry.byDigestOnly ? ['mirror-by-digest-only = true'] : []),
    ...(entry.broken === '' ? [] : [entry.broken]),
    ...entry.mirrors.flatMap(({ location: place, insecure, use }) => [
      '  [[registry.mirror]]',
      `  location = "${place}"`,
      ...(insecure ? ['  insecure = true'] : []),
      ...(use === '' || (entry.byDigestOnly && !mayBeForbidden) ? [] : [`  pull-from-mirror = "${use}"`]),
    ]),
  ].join('\n')
}

function resolvedHere(configuration: string, reference: string): Outcome {
  try {
    const { endpoints } = resolveEndpoints(parseRegistriesConf(configuration, 'r.conf'), parseReference(reference))
    return {
      tried: endpoints.map((endpoint) => formatReference(endpoint.reference)),
      blocked: endpoints.flatMap(({ blockedBy }) => blockedBy ?? []),
    }
  } catch (error) {
    assert.ok(error instanceof KnownError)
    const refused = error.code === 'REGISTRIES_CONF_INVALID' ? 'configuration' : 'rewriting'
    return { refused, tried: [], blocked: [] }
  }
}

function resolvedBySkopeo(skopeo: string, home: string, reference: string): Promise<Outcome> {
  const args = ['--debug', '--registries-conf', join(home, 'r.conf'), 'inspect', '--raw', `docker://${reference}`]
  const env = { HOME: home, HTTPS_PROXY: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' }
  return new Promise((resolve) => {
    execFile(skopeo, args, { env, timeout: 20_000 }, (_error, _stdout, log) => {
      const matches = (pattern: RegExp) => [...log.matchAll(pattern)].map(([, match = '']) => match)
      const tried = matches(/Trying to access \\"(.*?)\\"/g)
      // Named once for every endpoint in the last line, which tells all that was tried.
      const last = log.split('\n').findLast((line) => line.includes('level=fatal')) ?? ''
      const blocked = [...last.matchAll(/registry (\S+) is blocked in/g)].map(([, prefix = '']) => prefix)
      if (last.includes('loading registries')) resolve({ refused: 'configuration', tried, blocked })
      else if (last.includes('rewriting reference')) resolve({ refused: 'rewriting', tried, blocked })
      else resolve({ tried, blocked })
    })
  })
}

test('random configurations lead the real skopeo to the same endpoints', async (t) => {
  const skopeo = peer(t, 'skopeo')
  if (skopeo === undefined) return
  const home = await tempDir(t)
  await mkdir(join(home, '.config'))
  const seed = Number(process.env['SALLYPORT_SEED'] ?? randomInt(2 ** 31))
  t.diagnostic(`seed ${seed} (SALLYPORT_SEED)`)
  const seen = { configuration: 0, rewriting: 0, endpoints: 0 }
  await fc.assert(
    fc.asyncProperty(configurations, references, async (configuration, reference) => {
      await writeFile(join(home, 'r.conf'), configuration)
      const theirs = await resolvedBySkopeo(skopeo, home, reference)
      assert.deepEqual(resolvedHere(configuration, reference), theirs)
      seen[theirs.refused ?? 'endpoints'] += 1
    }),
    { seed, numRuns: Number(process.env['SALLYPORT_RUNS'] ?? 100) },
  )
  t.diagnostic(`refused ${seen.configuration}, not rewritable ${seen.rewriting}, resolved ${seen.endpoints}`)
})
