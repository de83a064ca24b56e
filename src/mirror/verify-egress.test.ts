import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownError } from '../errors/known-error.ts'
import { digestOf } from '../oci/digest.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { parseRegistriesConf } from '../registries/parse.ts'
import { type EgressOptions, verifyEgress } from './verify-egress.ts'

const digest = digestOf('x')
const image = parseReference(`quay.io/a/b@${digest}`)
const mirrors = `[[registry]]
prefix = "quay.io/a"
location = "quay.io/a"
[[registry.mirror]]
location = "lab:5000/one"
pull-from-mirror = "digest-only"
[[registry.mirror]]
location = "lab:5000/two"
pull-from-mirror = "digest-only"
`

/** Registries that have `present`, and fail for what begins with `broken`. */
function registryWith(present: readonly string[], broken = 'none') {
  const asked: string[] = []
  const resolve = async (reference: Reference) => {
    const name = formatReference(reference)
    asked.push(name)
    if (name.startsWith(broken)) throw new KnownError('REGISTRY_FAILED', `${name} answered 500`)
    return present.includes(name) ? { mediaType: 'x', digest, size: 1 } : undefined
  }
  return { asked, registry: { resolve } }
}

function verify(conf: string, references: readonly Reference[], options: Partial<EgressOptions> = {}) {
  const base = {
    conf: parseRegistriesConf(conf, 'x.conf'),
    inside: new Set(['lab:5000']),
    signal: new AbortController().signal,
  }
  return verifyEgress(references, { ...base, ...options })
}

test('an image whose mirror has it stays inside, and further mirrors are not asked', async () => {
  const { registry, asked } = registryWith([`lab:5000/one/b@${digest}`])
  const report = await verify(mirrors, [image, image], { registry })
  assert.deepEqual([report.references, report.inside, report.findings, report.isAsked], [1, 1, [], true])
  assert.equal(asked.length, 1)
})

test('an image that was made here is not looked for at any mirror: nothing pulls it by that name', async () => {
  const { registry, asked } = registryWith([`lab:5000/one/b@${digest}`])
  const graph = parseReference('sallyport.invalid/openshift/graph-image:latest')
  const report = await verify(mirrors, [graph, image], { registry })
  assert.deepEqual([report.references, report.findings, asked.length], [1, [], 1])
})

test('an image that the first mirror lacks is looked for at the second, a mirror in trouble is passed', async () => {
  const second = [`lab:5000/two/b@${digest}`]
  assert.equal((await verify(mirrors, [image], { registry: registryWith(second).registry })).inside, 1)
  assert.equal((await verify(mirrors, [image], { registry: registryWith(second, 'lab:5000/one').registry })).inside, 1)
})

test('an image that no mirror has: the finding names the image, every answer and where a node would go on', async () => {
  const { registry, asked } = registryWith([], 'lab:5000/one')
  const [finding] = (await verify(mirrors, [image], { registry })).findings
  assert.equal(finding?.id, 'egress.mirror-lacks-image')
  assert.ok(finding?.summary.includes(`quay.io/a/b@${digest}`))
  assert.match(finding?.evidence ?? '', /lab:5000\/one.*500; lab:5000\/two.*not there/)
  assert.ok(!asked.some((name) => name.startsWith('quay.io')), 'nothing outside is asked')
})

test('without a mirror, by tag where mirrors are for digests, or at a host that is not inside: it would leave', async () => {
  const outside = await verify(mirrors, [parseReference('quay.io/c:1'), parseReference('quay.io/a/b:1')])
  assert.deepEqual(
    outside.findings.map(({ id }) => id),
    ['egress.leaves-network', 'egress.leaves-network'],
  )
  const elsewhere = await verify(mirrors, [image], { inside: new Set(['lab:5001']) })
  assert.deepEqual(
    elsewhere.findings.map(({ id }) => id),
    ['egress.leaves-network'],
  )
  assert.equal((await verify(mirrors, [image])).inside, 1, 'computed only, the first endpoint decides')
})

test('where every endpoint is blocked a node could not pull; a blocked source behind a mirror is right', async () => {
  const blocked = await verify('[[registry]]\nlocation = "quay.io"\nblocked = true\n', [image])
  assert.deepEqual(
    blocked.findings.map(({ id }) => id),
    ['egress.blocked'],
  )
  const policy = mirrors.replace('location = "quay.io/a"\n', 'location = "quay.io/a"\nblocked = true\n')
  const { registry } = registryWith([])
  const [lacking] = (await verify(policy, [image], { registry })).findings
  assert.match(lacking?.summary ?? '', /nothing else to try/)
})
