import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import {
  type CertifiedKey,
  makeAuthority,
  makeSigningCertificate,
  type SigningAuthority,
} from '../../testkit/signing-certificates.ts'
import {
  annotated,
  logEntry,
  type MadeSignature,
  makeSigningKey,
  makeSigstoreSignature,
} from '../../testkit/sigstore-signing.ts'
import type { Digest } from '../oci/digest.ts'
import type { ByteSource } from './policy-bytes.ts'
import { parseStrictJson } from './policy-json.ts'
import type { SigstoreRequirement } from './policy-requirement.ts'
import { canonicalJson } from './rekor-set.ts'
import { parseSigstoreKey } from './sigstore-key.ts'
import { checkSigstoreSignature, SigstoreFault, simpleSigningType } from './sigstore-signature.ts'
import { loadTrustRoot } from './sigstore-trust.ts'

const digest: Digest = `sha256:${'d'.repeat(64)}`
const dockerReference = 'h.test/ns/app:1'
const log = makeSigningKey()
const key = makeSigningKey()
const issuer = 'https://login.test/oauth'
const email = 'signer@example.test'
const bundle = 'dev.sigstore.cosign/bundle'
const certificateAnnotation = 'dev.sigstore.cosign/certificate'
const chain = 'dev.sigstore.cosign/chain'

const site: { root?: SigningAuthority; middle?: SigningAuthority; person?: CertifiedKey } = {}

before(async () => {
  site.root = await makeAuthority({ name: 'root' })
  site.middle = await makeAuthority({ name: 'middle', parent: site.root, pathLength: 0 })
  site.person = await makeSigningCertificate({ authority: site.middle, email, issuer })
})

function made(): Required<typeof site> {
  const { root, middle, person } = site
  assert.ok(root && middle && person)
  return { root, middle, person }
}

const data = (...texts: string[]): ByteSource => ({ kind: 'data', parts: texts.map((text) => Buffer.from(text)) })

type Trust = Pick<SigstoreRequirement, 'keys' | 'fulcio' | 'pki' | 'rekorKeys'>

/** The key that signed, or the fault. */
async function judge(trust: Trust, { payload, annotations }: MadeSignature, now = 1_700_000_000_000) {
  const requirement: SigstoreRequirement = {
    type: 'sigstoreSigned',
    place: 'default[0]',
    line: 1,
    identity: { type: 'matchExact' },
    ...trust,
  }
  const signature = { payload, annotations, mediaType: simpleSigningType, origin: 'signature 1' }
  try {
    const keys = await (await loadTrustRoot(requirement)).keysFor(signature, now)
    const rules = { keys, digest, digestBy: async () => digest, acceptsName: () => true, names: 'anything' }
    const accepted = await checkSigstoreSignature(signature, rules)
    return { accepted: accepted.key.origin }
  } catch (error) {
    if (!(error instanceof SigstoreFault)) throw error
    return { fault: error.kind, message: error.message }
  }
}

const sign = (by = key) => makeSigstoreSignature({ key: by, digest, dockerReference })
const logged = (signature: MadeSignature, signer = key.publicPem, by = log, time?: number) =>
  annotated(signature, { [bundle]: logEntry({ log: by, signer, signature, ...(time !== undefined && { time }) }) })
const byKey = { keys: data(key.publicPem) }
const byKeyAndLog = { ...byKey, rekorKeys: data(log.publicPem) }

test('a log is asked for only where the policy names one', async () => {
  assert.deepEqual(await judge(byKey, sign()), { accepted: 'default[0], key 1' })
  const { fault, message } = await judge(byKeyAndLog, sign())
  assert.equal(fault, 'log')
  assert.match(String(message), /lacks the annotation dev\.sigstore\.cosign\/bundle/)
})

test('a logged signature counts, of several keys that which is logged', async () => {
  const trust = {
    keys: data(makeSigningKey().publicPem, key.publicPem),
    rekorKeys: data(makeSigningKey().publicPem, log.publicPem),
  }
  assert.deepEqual(await judge(trust, logged(sign())), { accepted: 'default[0], key 2' })
})

const logFaults: readonly (readonly [title: string, make: () => MadeSignature, message: RegExp])[] = [
  ['by another log', () => logged(sign(), key.publicPem, makeSigningKey()), /signed by none of the trusted logs/],
  ['for another key', () => logged(sign(), makeSigningKey().publicPem), /for another key or certificate/],
  [
    'for another signature',
    () => annotated(sign(), { [bundle]: String(logged(sign()).annotations[bundle]) }),
    /for another signature/,
  ],
  ['for another payload', () => ({ ...logged(sign()), payload: Buffer.from('{}') }), /for another payload/],
  [
    'that was altered',
    () =>
      annotated(sign(), {
        [bundle]: String(logged(sign()).annotations[bundle]).replace('"logIndex":7', '"logIndex":8'),
      }),
    /or was altered/,
  ],
  ['that is no JSON', () => annotated(sign(), { [bundle]: 'nothing' }), /cannot be read/],
  [
    'with a field too many',
    () => annotated(sign(), { [bundle]: '{"SignedEntryTimestamp":"","Payload":{},"x":1}' }),
    /unknown field "x"/,
  ],
]

for (const [title, make, message] of logFaults) {
  test(`a log entry ${title} proves nothing`, async () => {
    const verdict = await judge(byKeyAndLog, make())
    assert.equal(verdict.fault, 'log')
    assert.match(String(verdict.message), message)
  })
}

function byFulcio(more: object = {}): Trust {
  return {
    fulcio: { ca: data(made().root.pem), oidcIssuer: issuer, subjectEmail: email, ...more },
    rekorKeys: data(log.publicPem),
  }
}

function certified({ key: by, certificate }: CertifiedKey, time?: number): MadeSignature {
  const { middle, root } = made()
  const certificates = { [certificateAnnotation]: certificate, [chain]: `${middle.pem}\n${root.pem}` }
  return annotated(logged(sign(by), certificate, log, time), certificates)
}

test('a person’s certificate counts for the time at which the log took the signature in', async () => {
  assert.deepEqual(await judge(byFulcio(), certified(made().person)), { accepted: 'the certificate of signature 1' })
})

const certificates: readonly (readonly [title: string, more: object, message: RegExp])[] = [
  ['for another person', { email: 'other@example.test' }, /is for other@example\.test, not for signer@example\.test/],
  ['from another issuer', { issuer: 'https://else.test' }, /of the OIDC issuer "https:\/\/else\.test"/],
  ['from no issuer', { issuer: undefined }, /does not say which OIDC issuer/],
  ['from two issuers', { oldIssuer: 'https://else.test' }, /does not say which OIDC issuer/],
  ['that had expired', { notAfter: new Date(1_699_999_000_000) }, /expired at .* before/],
  ['that was not yet valid', { notBefore: new Date(1_700_001_000_000) }, /is valid from .* after/],
  ['for something else than code', { usage: '1.3.6.1.5.5.7.3.1' }, /is not for code signing/],
  ['that says something nobody understands', { unknownCritical: true }, /critical extension 1\.2\.3\.4/],
]

for (const [title, more, message] of certificates) {
  test(`a certificate ${title} does not count`, async () => {
    const person = await makeSigningCertificate({ authority: made().middle, email, issuer, ...more })
    const verdict = await judge(byFulcio(), certified(person))
    assert.equal(verdict.fault, 'certificate')
    assert.match(String(verdict.message), message)
  })
}

test('a certificate that leads to no trusted root does not count', async () => {
  const { middle, root } = made()
  const elsewhere = await makeAuthority({ name: 'root' })
  const nobody = await makeAuthority({ name: 'nobody', parent: root, isAuthority: false })
  const deep = await makeAuthority({ name: 'deep', parent: middle })
  const old = await makeAuthority({ name: 'old', parent: root, notAfter: new Date('2021-01-01') })
  const issued = async (authority: SigningAuthority, ...between: SigningAuthority[]) => {
    const person = await makeSigningCertificate({ authority, email, issuer })
    const pems = [...between, root].map(({ pem }) => pem).join('\n')
    return judge(byFulcio(), annotated(certified(person), { [chain]: pems }))
  }
  assert.match(String((await issued(elsewhere)).message), /nobody trusted issued it/)
  assert.match(String((await issued(middle)).message), /nobody trusted issued it/)
  assert.match(String((await issued(nobody, nobody)).message), /CN=nobody is no certificate authority/)
  assert.match(String((await issued(deep, deep, middle)).message), /CN=middle may stand only 0 above a certificate/)
  assert.match(String((await issued(old, old)).message), /CN=old expired at/)
  assert.deepEqual(await issued(root), { accepted: 'the certificate of signature 1' })
})

test('a PKI of one’s own counts by today’s clock, without a log', async () => {
  const { root, middle } = made()
  const { key: by, certificate } = await makeSigningCertificate({ authority: middle, email, host: 'build.test' })
  const signature = annotated(sign(by), { [certificateAnnotation]: certificate })
  const trust = (more: object): Trust => ({ pki: { roots: data(root.pem), intermediates: data(middle.pem), ...more } })
  const accepted = { accepted: 'the certificate of signature 1' }
  assert.deepEqual(await judge(trust({ subjectEmail: email }), signature), accepted)
  assert.deepEqual(await judge(trust({ subjectHostname: 'build.test', subjectEmail: email }), signature), accepted)
  const messageOf = async (more: object, now?: number) => String((await judge(trust(more), signature, now)).message)
  assert.match(await messageOf({ subjectHostname: 'other.test' }), /is not for the host other\.test/)
  assert.match(await messageOf({ subjectEmail: 'x@example.test' }), /not for x@example\.test/)
  assert.match(await messageOf({ subjectEmail: email }, 1_800_000_000_000), /expired at/)
  assert.match(await messageOf({ subjectEmail: email, intermediates: undefined }), /nobody trusted issued it/)
})

test('a signature without a certificate, or with something else in its place, does not count', async () => {
  assert.match(
    String((await judge(byFulcio(), sign())).message),
    /lacks the annotation dev\.sigstore\.cosign\/certificate/,
  )
  const nonsense = annotated(certified(made().person), { [certificateAnnotation]: 'nonsense' })
  assert.match(String((await judge(byFulcio(), nonsense)).message), /there is no certificate in the annotation/)
})

test('JSON is written as RFC 8785 has it', () => {
  const text = '{"b": [1.0, 1e3, "\\u00e9\\n"], "a": {"z": null, "Z": true}, "\\u20ac": 0.1}'
  assert.equal(canonicalJson(parseStrictJson(text)), '{"a":{"Z":true,"z":null},"b":[1,1000,"é\\n"],"€":0.1}')
})

test('signatures that cosign made are read: by the key that their log entry names, and by no other', async (t) => {
  const folder = '../shared/data/mirror/oc-mirror'
  if (!existsSync(folder)) return t.skip('the shared data is not here')
  const other = parseSigstoreKey(readFileSync(join(folder, 'signatures/cosign.pub')), 'cosign.pub')
  const layouts = readdirSync(join(folder, 'oci')).filter((name) => name.endsWith('-sig'))
  assert.ok(layouts.length >= 6)
  for (const layout of layouts) {
    const blob = (name: string) => readFileSync(join(folder, 'oci', layout, 'blobs/sha256', name.slice(7)))
    const index = JSON.parse(readFileSync(join(folder, 'oci', layout, 'index.json'), 'utf8'))
    const [layer] = JSON.parse(blob(index.manifests[0].digest).toString()).layers
    const { annotations, mediaType } = layer
    const signature = { payload: blob(layer.digest), annotations, mediaType, origin: layout }
    const signed: Digest = JSON.parse(signature.payload.toString()).critical.image['docker-manifest-digest']
    const body = JSON.parse(Buffer.from(JSON.parse(annotations[bundle]).Payload.body, 'base64').toString())
    const logged = parseSigstoreKey(Buffer.from(body.spec.signature.publicKey.content, 'base64'), 'logged key')
    const check = (keys: readonly (typeof logged)[]) =>
      checkSigstoreSignature(signature, {
        keys,
        digest: signed,
        digestBy: async () => signed,
        acceptsName: () => true,
        names: '',
      })
    assert.match((await check([other, logged])).dockerReference, /^quay\.io\//)
    await assert.rejects(check([other]), { kind: 'other-key' })
  }
})
