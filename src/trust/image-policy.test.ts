import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { makeImage, makeMultiArch } from '../../testkit/image.ts'
import { type ScriptedRegistry, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { makeSigningKey, makeSigstoreSignature, signatureTag } from '../../testkit/sigstore-signing.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { KnownError } from '../errors/known-error.ts'
import { silentLog } from '../host/log.ts'
import { hexOf } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import { parseRegistriesConf } from '../registries/parse.ts'
import { withRegistriesConf } from '../remote/registries-conf-source.ts'
import { createWebClient } from '../remote/web-client.ts'
import { ImagePolicy, type PolicyImage, policyRejected, type Verdict } from './image-policy.ts'

const key = makeSigningKey()
const image = makeImage({ seed: 'image', layers: 1, tag: '1' })
const index = makeMultiArch({ seed: 'index', architectures: ['amd64', 'arm64'], layers: 1, tag: '2' })
const instances = index.manifests.slice(0, -1).map(({ descriptor }) => descriptor.digest)
const sigstoreSigned = { type: 'sigstoreSigned', keyData: Buffer.from(key.publicPem).toString('base64') }
const policyOf = (...requirements: object[]) => JSON.stringify({ default: requirements }, undefined, 2)

interface Site {
  readonly registry: ScriptedRegistry
  judge(image: Pick<PolicyImage, 'digest' | 'instances'>, tag?: string): Promise<Verdict>
}

interface SiteOptions {
  readonly policy: string
  readonly registriesD?: (registry: ScriptedRegistry) => string
  readonly usesAttachmentsByDefault?: boolean
  /** Which manifests have a signature of `key`, and for which name. */
  readonly signed?: readonly { readonly digest: typeof image.digest; readonly dockerReference: string }[]
}

/** Images are named `origin.test/ns/app`, and come from the repository `mirrored/app` on loopback. */
async function makeSite(t: TestContext, { policy, registriesD, signed = [], ...more }: SiteOptions): Promise<Site> {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  const tags = signed.map((one) => signatureTag(one.digest, [makeSigstoreSignature({ key, ...one })]))
  await pushAll(client, registry.address, [{ repository: 'mirrored/app', images: [image, index, ...tags] }])
  const root = await tempDir(t)
  await mkdir(join(root, 'registries.d'))
  await writeFile(join(root, 'policy.json'), policy)
  const attachments = `docker: {"${registry.address}/mirrored": {use-sigstore-attachments: true}}`
  await writeFile(join(root, 'registries.d/a.yaml'), registriesD?.(registry) ?? attachments)
  const conf = `[[registry]]\nprefix = "origin.test/ns"\nlocation = "origin.test/ns"\n[[registry.mirror]]\nlocation = "${registry.address}/mirrored"\ninsecure = true\n`
  const source = withRegistriesConf(client, parseRegistriesConf(conf, 'r.conf'))
  const clock = new FakeClock({ isImpatient: true })
  const web = createWebClient({
    clock,
    log: silentLog,
    tls: { certsDirs: [] },
    proxies: { noProxy: '' },
    random: () => 0.5,
  })
  t.after(() => web.close())
  const loaded = await ImagePolicy.load({
    policyPath: join(root, 'policy.json'),
    registriesD: join(root, 'registries.d'),
    env: { HOME: root },
    userId: 1000,
    ...more,
    clock,
  })
  const judge: Site['judge'] = (judged, tag = '1') =>
    loaded.evaluate(
      { ...judged, source: parseReference(`origin.test/ns/app:${tag}`) },
      { source, web, signal: t.signal },
    )
  return { registry, judge }
}

test('an image of a mirror is judged by its own name, by the signatures of the mirror', async (t) => {
  const signed = [{ digest: image.digest, dockerReference: 'origin.test/ns/app:1' }]
  const { judge } = await makeSite(t, { policy: policyOf(sigstoreSigned), signed })
  const verdict = await judge(image)
  assert.equal(verdict.accepted, true)
  assert.match(verdict.by, /^default of .*policy\.json$/)
})

test('signatures are not looked for where registries.d speaks of the name instead of the place', async (t) => {
  const signed = [{ digest: image.digest, dockerReference: 'origin.test/ns/app:1' }]
  const registriesD = () => 'docker: {origin.test: {use-sigstore-attachments: true}}'
  const { judge } = await makeSite(t, { policy: policyOf(sigstoreSigned), signed, registriesD })
  const verdict = await judge(image)
  assert.ok(!verdict.accepted)
  assert.match(
    verdict.rejections[0]?.reasons[0] ?? '',
    /none in the lookaside store .*; use-sigstore-attachments is not true/,
  )
})

test('attachments are looked at by default where the caller mirrors as oc-mirror does', async (t) => {
  const signed = [{ digest: image.digest, dockerReference: 'origin.test/ns/app:1' }]
  const options = { policy: policyOf(sigstoreSigned), signed, registriesD: () => '' }
  const { judge } = await makeSite(t, { ...options, usesAttachmentsByDefault: true })
  assert.equal((await judge(image)).accepted, true)
  const strict = await makeSite(t, options)
  assert.equal((await strict.judge(image)).accepted, false)
})

test('every image of an index needs its own signature, and the index needs none', async (t) => {
  const dockerReference = 'origin.test/ns/app:2'
  const all = instances.map((digest) => ({ digest, dockerReference }))
  const complete = await makeSite(t, { policy: policyOf(sigstoreSigned), signed: all })
  assert.equal((await complete.judge({ digest: index.digest, instances }, '2')).accepted, true)
  const signed = [...all.slice(1), { digest: index.digest, dockerReference }]
  const { judge } = await makeSite(t, { policy: policyOf(sigstoreSigned), signed })
  const verdict = await judge({ digest: index.digest, instances }, '2')
  assert.ok(!verdict.accepted)
  assert.deepEqual(
    verdict.rejections.map(({ digest }) => digest),
    instances.slice(0, 1),
  )
})

test('an index that names nothing is judged itself', async (t) => {
  const { judge } = await makeSite(t, { policy: policyOf({ type: 'reject' }) })
  assert.equal((await judge({ digest: index.digest, instances: [] }, '2')).accepted, false)
})

test('every requirement must be met, and the message names the one that is not', async (t) => {
  const policy = policyOf({ type: 'insecureAcceptAnything' }, sigstoreSigned)
  const { judge } = await makeSite(t, { policy })
  const verdict = await judge(image)
  assert.ok(!verdict.accepted)
  const error = policyRejected(parseReference('origin.test/ns/app:1'), verdict)
  assert.equal(error.code, 'POLICY_REJECTED')
  assert.match(
    error.message,
    /^origin\.test\/ns\/app:1 is rejected by \S+policy\.json:6: default\[1\] \(sigstoreSigned\): a sigstore signature is required, and there is none in the lookaside store file:\S+ and 127\.0\.0\.1:\d+\/mirrored\/app:sha256-\S+\.sig$/,
  )
})

test('reject and what nobody implements accept nothing, and say so', async (t) => {
  const cases: readonly (readonly [requirement: object, reason: RegExp])[] = [
    [{ type: 'reject' }, /rejects every image/],
    [{ type: 'signedBaseLayer', baseLayerIdentity: { type: 'matchExact' } }, /signedBaseLayer is not implemented/],
    [
      { type: 'signedBy', keyType: 'X509Certificates', keyPath: '/none' },
      /key type X509Certificates is not implemented/,
    ],
    [{ type: 'signedBy', keyType: 'GPGKeys', keyPath: '/none' }, /Cannot read \/none, which the policy names/],
    [{ type: 'sigstoreSigned', keyPath: '/none' }, /Cannot read \/none, which the policy names/],
    [
      { type: 'sigstoreSigned', keyData: Buffer.from('x').toString('base64') },
      /default\[0\], key 1: it holds no public key/,
    ],
  ]
  for (const [requirement, reason] of cases) {
    const { judge } = await makeSite(t, { policy: policyOf(requirement) })
    const verdict = await judge(image)
    assert.ok(!verdict.accepted)
    assert.match(verdict.rejections[0]?.reasons.join() ?? '', reason)
  }
})

test('sigstore signatures in a lookaside store count as well', async (t) => {
  const { payload, annotations } = makeSigstoreSignature({
    key,
    digest: image.digest,
    dockerReference: 'origin.test/ns/app:1',
  })
  const stored = {
    mimeType: 'application/vnd.dev.cosign.simplesigning.v1+json',
    payload: Buffer.from(payload).toString('base64'),
    annotations,
  }
  const store = await tempDir(t)
  const folder = join(store, `mirrored/app@sha256=${hexOf(image.digest)}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'signature-1'), `\0sigstore-json\n${JSON.stringify(stored)}`)
  const registriesD = () => `default-docker: {lookaside: "file://${store}"}`
  const { judge } = await makeSite(t, { policy: policyOf(sigstoreSigned), registriesD })
  assert.equal((await judge(image)).accepted, true)
})

const garbage: readonly (readonly [title: string, bytes: string, reason: RegExp])[] = [
  ['is empty', '', /it is empty/],
  ['is a page', '<html>', /neither OpenPGP nor a known format/],
  ['has an unknown format', '\0notation\n{}', /the format "notation" is unknown/],
  ['is no JSON', '\0sigstore-json\nnothing', /cannot be read: "n" is not expected/],
]

for (const [title, bytes, reason] of garbage) {
  test(`a stored signature that ${title} accepts nothing`, async (t) => {
    const store = await tempDir(t)
    const folder = join(store, `mirrored/app@sha256=${hexOf(image.digest)}`)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'signature-1'), bytes, 'latin1')
    const registriesD = () => `default-docker: {lookaside: "file://${store}"}`
    const { judge } = await makeSite(t, { policy: policyOf(sigstoreSigned), registriesD })
    const verdict = await judge(image)
    assert.ok(!verdict.accepted)
    assert.match(verdict.rejections[0]?.reasons.join() ?? '', reason)
  })
}

test('a store that is down for a moment is asked again; one that stays down is an error and no verdict', async (t) => {
  const registriesD = ({ url }: ScriptedRegistry) => `default-docker: {lookaside: "${url}/store"}`
  const passing = await makeSite(t, { policy: policyOf(sigstoreSigned), registriesD })
  passing.registry.fault({ path: /\/store\//, status: 503, times: 1 })
  assert.equal((await passing.judge(image)).accepted, false)
  assert.equal(passing.registry.requests.filter(({ path }) => path.startsWith('/store/')).length, 2)
  const { judge, registry } = await makeSite(t, { policy: policyOf(sigstoreSigned), registriesD })
  registry.fault({ path: /\/store\//, status: 503 })
  await assert.rejects(judge(image), (error) => error instanceof KnownError && error.code.startsWith('WEB_'))
})

test('a lookaside store that never ends is an error', async (t) => {
  const registriesD = ({ url }: ScriptedRegistry) => `default-docker: {lookaside: "${url}/store"}`
  const { judge, registry } = await makeSite(t, { policy: policyOf(sigstoreSigned), registriesD })
  registry.fault({ path: /\/store\//, status: 200, body: Buffer.from([0x90, 1, 2]) })
  const verdict = await judge(image)
  assert.ok(!verdict.accepted)
  assert.match(verdict.rejections[0]?.reasons.join() ?? '', /there are more than 128 signatures/)
})

test('signatures are read once for all requirements, and not at all where none asks', async (t) => {
  const signed = [{ digest: image.digest, dockerReference: 'origin.test/ns/app:1' }]
  const { judge, registry } = await makeSite(t, { policy: policyOf(sigstoreSigned, sigstoreSigned), signed })
  registry.requests.length = 0
  assert.equal((await judge(image)).accepted, true)
  assert.equal(registry.requests.filter(({ path }) => path.endsWith('.sig')).length, 1)
  const open = await makeSite(t, { policy: policyOf({ type: 'insecureAcceptAnything' }) })
  open.registry.requests.length = 0
  assert.equal((await open.judge(image)).accepted, true)
  assert.equal(open.registry.requests.length, 0)
})
