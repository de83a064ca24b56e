/**
 * The same policy.json, registries.d, images and signatures to `ImagePolicy` and to the real skopeo: the same verdict.
 *
 * Debian builds skopeo without sigstore, and then every such signature is refused before it is looked at; those cases are
 * compared where another skopeo stands first on the PATH, and checked against what is expected everywhere.
 *
 * Images have names below `img.example.test`, which a registries.conf sends to loopback, so that what is looked up by the name
 * of the image and what by the place it is read from are told apart.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { KnownError } from '../../src/errors/known-error.ts'
import { systemClock } from '../../src/host/clock.ts'
import { mapConcurrently } from '../../src/host/concurrency.ts'
import { silentLog } from '../../src/host/log.ts'
import { type Digest, hexOf } from '../../src/oci/digest.ts'
import { parseReference } from '../../src/oci/reference.ts'
import type { SampleImage } from '../../src/quickstart/sample-image.ts'
import { parseRegistriesConf } from '../../src/registries/parse.ts'
import { withRegistriesConf } from '../../src/remote/registries-conf-source.ts'
import { createWebClient } from '../../src/remote/web-client.ts'
import { ImagePolicy } from '../../src/trust/image-policy.ts'
import { gpgHome } from '../../testkit/gpg-home.ts'
import { makeImage, makeMultiArch } from '../../testkit/image.ts'
import { peer } from '../../testkit/peers.ts'
import { pushAll } from '../../testkit/seed.ts'
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
  payloadOf,
  type SigningKey,
  signatureTag,
} from '../../testkit/sigstore-signing.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testRegistry } from '../../testkit/test-registry.ts'

const host = 'img.example.test'
const subject = { email: 'signer@example.test', issuer: 'https://login.test/oauth' }
const lasting = { notBefore: new Date('2020-01-01'), notAfter: new Date('2098-01-01') }

interface GpgKey {
  /** Armored. */
  readonly publicKey: string
  /** Signature and what was signed in one, as simple signing stores it. */
  sign(content: Uint8Array): Uint8Array
}

interface Site {
  readonly address: string
  readonly directory: string
  readonly registriesConf: string
  readonly key: SigningKey
  readonly otherKey: SigningKey
  readonly gpg: GpgKey
  readonly otherGpg: GpgKey
  readonly log: SigningKey
  readonly root: SigningAuthority
  readonly person: CertifiedKey
  readonly images: Readonly<Record<string, SampleImage>>
}

type Verdict = 'accepted' | 'rejected' | 'invalid'

interface Case {
  readonly name: string
  readonly image: string
  readonly policy: unknown
  /** Files of registries.d; default: attachments everywhere, and the lookaside store. */
  readonly registriesD?: Readonly<Record<string, string>>
  readonly verdict: Verdict
  /** What skopeo 1.9 does not know yet. */
  readonly isNewer?: boolean
}

test('skopeo and ImagePolicy come to the same verdict', async (t) => {
  const skopeo = peer(t, 'skopeo')
  const gpg = peer(t, 'gpg')
  if (skopeo === undefined || gpg === undefined) return
  const site = await makeSite(t, gpg)
  const cases = [...casesOf(site), ...newerCasesOf(site)]
  const verdicts = await mapConcurrently(cases, 4, async (one, index) => {
    const files = await writeCase(join(site.directory, `case-${index}`), one, site)
    return {
      name: one.name,
      isNewer: one.isNewer,
      ours: await judgedHere(t, one, files),
      skopeo: await judgedBySkopeo(skopeo, one, files),
    }
  })
  const isDisabled = ({ skopeo: { text } }: (typeof verdicts)[number]) => text.includes('sigstore disabled')
  const isOld = verdicts.some(isDisabled)
  const isJudged = (one: (typeof verdicts)[number]) => !isDisabled(one) && !(isOld && one.isNewer)
  const differing = verdicts.filter((one, index) => {
    const wanted = cases[index]?.verdict
    return one.ours !== wanted || (isJudged(one) && one.skopeo.verdict !== wanted)
  })
  assert.deepEqual(differing, [])
  const compared = verdicts.filter(isJudged).length
  t.diagnostic(
    `${compared} of ${cases.length} cases compared: the skopeo of Debian does not verify sigstore signatures`,
  )
  assert.ok(compared >= 25)
})

async function makeSite(t: TestContext, program: string): Promise<Site> {
  const registry = await testRegistry(t)
  const { address } = registry
  const directory = await tempDir(t)
  const registriesConf = join(directory, 'registries.conf')
  const entries = [`${host}`, 'mirror.example.test', 'plain.test:5000'].map(
    (prefix) => `[[registry]]\nprefix = "${prefix}"\nlocation = "${address}"\ninsecure = true\n`,
  )
  await writeFile(registriesConf, `${entries.join('')}[[registry]]\nlocation = "${address}"\ninsecure = true\n`)
  const [gpg, otherGpg] = [await makeGpgKey(t, program), await makeGpgKey(t, program)]
  const root = await makeAuthority({ name: 'root' })
  const person = await makeSigningCertificate({ authority: root, ...subject, ...lasting })
  const [key, otherKey, log] = [makeSigningKey(), makeSigningKey(), makeSigningKey()]
  const site = { address, directory, registriesConf, gpg, otherGpg, key, otherKey, log, root, person }
  const names = [
    'plain',
    'signed',
    'bare',
    'twice',
    'otherkey',
    'otherdigest',
    'othername',
    'broken',
    'notjson',
    'gpg',
    'logged',
    'person',
  ]
  const single = names.map((name) => [name, makeImage({ seed: name, layers: 1, tag: '1' })] as const)
  const listed = ['multi', 'half', 'listonly'].map(
    (name) => [name, makeMultiArch({ seed: name, architectures: ['amd64', 'arm64'], tag: '1', layers: 1 })] as const,
  )
  const images = Object.fromEntries([...single, ...listed])
  await pushAll(testClient(t).client, address, [
    ...Object.entries(images).map(([name, image]) => ({
      repository: `ns/${name}`,
      images: [image, ...sigstoreSignatures(name, image, site)],
    })),
  ])
  await writeGpgSignatures(site, images)
  return { ...site, images }
}

async function makeGpgKey(t: TestContext, program: string): Promise<GpgKey> {
  const { run } = await gpgHome(t, program)
  run(['--quick-generate-key', 'signer@example.test', 'rsa2048', 'sign', 'never'])
  return { publicKey: run(['--armor', '--export']).toString(), sign: (content) => run(['--sign'], content) }
}

function sigstoreSignatures(name: string, image: SampleImage, site: Omit<Site, 'images'>): SampleImage[] {
  const reference = `${host}/ns/${name}:1`
  const of = (digest: Digest, dockerReference = reference, key = site.key) =>
    makeSigstoreSignature({ key, digest, dockerReference })
  const own = image.digest
  const broken = of(own)
  const flipped = Buffer.from(broken.annotations['dev.cosignproject.cosign/signature'] ?? '', 'base64')
  flipped.writeUInt8(flipped.readUInt8(20) ^ 1, 20)
  const children = image.manifests.slice(0, -1).map(({ descriptor }) => descriptor.digest)
  const logged = (signature: MadeSignature, signer: string) =>
    annotated(signature, { 'dev.sigstore.cosign/bundle': logEntry({ log: site.log, signer, signature }) })
  const certified = (signature: MadeSignature) =>
    annotated(logged(signature, site.person.certificate), {
      'dev.sigstore.cosign/certificate': site.person.certificate,
      'dev.sigstore.cosign/chain': site.root.pem,
    })
  const tags: Readonly<Record<string, () => SampleImage[]>> = {
    signed: () => [signatureTag(own, [of(own)])],
    bare: () => [signatureTag(own, [of(own, `${host}/ns/bare`)])],
    twice: () => [signatureTag(own, [of(own, reference, site.otherKey), of(own)])],
    otherkey: () => [signatureTag(own, [of(own, reference, site.otherKey)])],
    otherdigest: () => [signatureTag(own, [of(`sha256:${'a'.repeat(64)}`)])],
    othername: () => [signatureTag(own, [of(own, `${host}/ns/someone-else:1`)])],
    broken: () => [
      signatureTag(own, [
        { ...broken, annotations: { 'dev.cosignproject.cosign/signature': flipped.toString('base64') } },
      ]),
    ],
    notjson: () => [
      signatureTag(own, [
        makeSigstoreSignature({ key: site.key, digest: own, dockerReference: '', payload: Buffer.from('not JSON') }),
      ]),
    ],
    logged: () => [signatureTag(own, [logged(of(own), site.key.publicPem)])],
    person: () => [signatureTag(own, [certified(of(own, reference, site.person.key))])],
    multi: () => [own, ...children].map((digest) => signatureTag(digest, [of(digest)])),
    half: () => [own, ...children.slice(1)].map((digest) => signatureTag(digest, [of(digest)])),
    listonly: () => [signatureTag(own, [of(own)])],
  }
  return tags[name]?.() ?? []
}

/** In a lookaside store, below the path that the repository has at its place. */
async function writeGpgSignatures({ directory, gpg, otherGpg }: Omit<Site, 'images'>, images: Site['images']) {
  const write = async (name: string, number: number, message: Uint8Array) => {
    const digest = images[name]?.digest ?? ''
    const file = join(directory, 'lookaside/ns', `${name}@sha256=${hexOf(digest as Digest)}`, `signature-${number}`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, message)
  }
  const payload = (name: string, dockerReference = `${host}/ns/${name}:1`) =>
    Buffer.from(
      payloadOf(images[name]?.digest ?? '', dockerReference)
        .toString()
        .replace('cosign container image signature', 'atomic container signature')
        .replace('"optional":null', '"optional":{}'),
    )
  await write('gpg', 1, otherGpg.sign(payload('gpg')))
  await write('gpg', 2, gpg.sign(payload('gpg')))
  await write('twice', 1, gpg.sign(payload('twice', `${host}/vendor/other:1`)))
  await write('plain', 1, gpg.sign(payload('signed')))
}

interface CaseFiles {
  readonly policy: string
  readonly registriesD: string
  readonly site: Site
}

async function writeCase(folder: string, { policy, registriesD }: Case, site: Site): Promise<CaseFiles> {
  const files = { policy: join(folder, 'policy.json'), registriesD: join(folder, 'registries.d'), site }
  await mkdir(files.registriesD, { recursive: true })
  await writeFile(files.policy, typeof policy === 'string' ? policy : JSON.stringify(policy, undefined, 2))
  const lookaside = `file://${join(site.directory, 'lookaside')}`
  const fallback = { 'default.yaml': `default-docker:\n  lookaside: ${lookaside}\n  use-sigstore-attachments: true\n` }
  for (const [name, text] of Object.entries(registriesD ?? fallback))
    await writeFile(join(files.registriesD, name), text)
  return files
}

async function judgedHere(t: TestContext, one: Case, { policy, registriesD, site }: CaseFiles): Promise<Verdict> {
  const { client } = testClient(t)
  const conf = parseRegistriesConf(
    [host, 'mirror.example.test', 'plain.test:5000']
      .map((prefix) => `[[registry]]\nprefix = "${prefix}"\nlocation = "${site.address}"\ninsecure = true\n`)
      .join(''),
    'r.conf',
  )
  const web = createWebClient({ clock: systemClock, log: silentLog, tls: { certsDirs: [] }, proxies: { noProxy: '' } })
  t.after(() => web.close())
  const source = parseReference(one.image)
  try {
    const options = { policyPath: policy, registriesD, env: { HOME: site.directory }, userId: 1000, clock: systemClock }
    const imagePolicy = await ImagePolicy.load(options)
    const content = withRegistriesConf(client, conf)
    const image = site.images[source.repository.replace(/^.*\//, '')]
    assert.ok(image)
    const instances = image.manifests.slice(0, -1).map(({ descriptor }) => descriptor.digest)
    const context = { source: content, web, signal: t.signal }
    const verdict = await imagePolicy.evaluate({ source, digest: image.digest, instances }, context)
    return verdict.accepted ? 'accepted' : 'rejected'
  } catch (error) {
    if (error instanceof KnownError && error.code === 'POLICY_INVALID') return 'invalid'
    throw error
  }
}

function judgedBySkopeo(
  skopeo: string,
  one: Case,
  { policy, registriesD, site }: CaseFiles,
): Promise<{ readonly verdict: Verdict | 'failed'; readonly text: string }> {
  const args = [
    ...['--policy', policy, '--registries.d', registriesD, '--registries-conf', site.registriesConf],
    ...['copy', '--all', '--remove-signatures', `docker://${one.image}`, `dir:${policy}.copy`],
  ]
  return new Promise((resolve) => {
    execFile(skopeo, args, { env: { HOME: site.directory, PATH: '/usr/bin:/bin' } }, (error, _stdout, stderr) => {
      const text = stderr.trim()
      if (error === null) resolve({ verdict: 'accepted', text })
      else if (text.includes('Source image rejected')) resolve({ verdict: 'rejected', text })
      else if (/invalid policy|Error loading trust policy|storage configuration|registries\.d/.test(text))
        resolve({ verdict: 'invalid', text })
      else resolve({ verdict: 'failed', text })
    })
  })
}

function casesOf(site: Site): readonly Case[] {
  const accept = [{ type: 'insecureAcceptAnything' }]
  const reject = [{ type: 'reject' }]
  const sigstore = (key: SigningKey, more: object = {}) => [
    { type: 'sigstoreSigned', keyData: Buffer.from(key.publicPem).toString('base64'), ...more },
  ]
  const gpg = (key: GpgKey, more: object = {}) => [
    { type: 'signedBy', keyType: 'GPGKeys', keyData: Buffer.from(key.publicKey).toString('base64'), ...more },
  ]
  const docker = (scopes: object, fallback: unknown = reject) => ({ default: fallback, transports: { docker: scopes } })
  const identity = (type: string, more: object = {}) => ({ signedIdentity: { type, ...more } })
  const ours = sigstore(site.key)
  const name = (path: string) => `${host}/ns/${path}:1`
  const digest = (path: string) => `${host}/ns/${path}@${site.images[path]?.digest}`
  const judge = (
    title: string,
    image: string,
    policy: unknown,
    verdict: Verdict,
    registriesD?: Case['registriesD'],
  ) => ({
    name: title,
    image,
    policy,
    verdict,
    ...(registriesD && { registriesD }),
  })
  const lookaside = `file://${join(site.directory, 'lookaside')}`
  return [
    judge('anything', name('plain'), { default: accept }, 'accepted'),
    judge('nothing', name('plain'), { default: reject }, 'rejected'),
    judge(
      'the exact tag before the repository',
      name('plain'),
      docker({ [name('plain')]: accept, [`${host}/ns/plain`]: reject }),
      'accepted',
    ),
    judge('another tag', name('plain'), docker({ [`${host}/ns/plain:2`]: accept }), 'rejected'),
    judge('the digest', digest('plain'), docker({ [digest('plain')]: accept }), 'accepted'),
    judge('the tag is no scope of a digest', digest('plain'), docker({ [name('plain')]: accept }), 'rejected'),
    judge(
      'the repository',
      name('plain'),
      docker({ [`${host}/ns/plain`]: accept, [`${host}/ns`]: reject }),
      'accepted',
    ),
    judge('the namespace', name('plain'), docker({ [`${host}/ns`]: accept, [host]: reject }), 'accepted'),
    judge('no part of a namespace', name('plain'), docker({ [`${host}/n`]: accept }), 'rejected'),
    judge('the host', name('plain'), docker({ [host]: accept, '*.example.test': reject }), 'accepted'),
    judge('a wildcard', name('plain'), docker({ '*.example.test': accept, '*.test': reject }), 'accepted'),
    judge('a wider wildcard', name('plain'), docker({ '*.test': accept, '': reject }), 'accepted'),
    judge('a wildcard is not its own domain', name('plain'), docker({ '*.img.example.test': accept }), 'rejected'),
    judge('the default of the transport', name('plain'), docker({ '': accept }), 'accepted'),
    judge('another transport', name('plain'), { default: reject, transports: { oci: { '': accept } } }, 'rejected'),
    judge('a host with its port', 'plain.test:5000/ns/plain:1', docker({ 'plain.test:5000': accept }), 'accepted'),
    judge('a host without its port', 'plain.test:5000/ns/plain:1', docker({ 'plain.test': accept }), 'rejected'),
    judge('a wildcard beside a port', 'plain.test:5000/ns/plain:1', docker({ '*.test': accept }), 'accepted'),
    judge('the place is no scope of the policy', name('plain'), docker({ [site.address]: accept }), 'rejected'),
    judge('signed', name('signed'), docker({ [host]: ours }), 'accepted'),
    judge('signed, asked for by digest', digest('signed'), docker({ [host]: ours }), 'accepted'),
    judge('not signed', name('plain'), docker({ [host]: ours }), 'rejected'),
    judge('signed with another key', name('otherkey'), docker({ [host]: ours }), 'rejected'),
    judge('one of two signatures counts', name('twice'), docker({ [host]: ours }), 'accepted'),
    judge('for another digest', name('otherdigest'), docker({ [host]: ours }), 'rejected'),
    judge('for another name', name('othername'), docker({ [host]: ours }), 'rejected'),
    judge('a flipped bit', name('broken'), docker({ [host]: ours }), 'rejected'),
    judge('no JSON', name('notjson'), docker({ [host]: ours }), 'rejected'),
    judge('both requirements', name('twice'), docker({ [host]: [...ours, ...sigstore(site.otherKey)] }), 'accepted'),
    judge(
      'one of two requirements',
      name('signed'),
      docker({ [host]: [...ours, ...sigstore(site.otherKey)] }),
      'rejected',
    ),
    judge('attachments are off', name('signed'), docker({ [host]: ours }), 'rejected', {}),
    judge('attachments by the name', name('signed'), docker({ [host]: ours }), 'rejected', {
      'a.yaml': `docker:\n  ${host}:\n    use-sigstore-attachments: true\n`,
    }),
    judge('attachments by the place', name('signed'), docker({ [host]: ours }), 'accepted', {
      'a.yaml': `docker:\n  ${site.address}:\n    use-sigstore-attachments: true\n`,
    }),
    judge('attachments off for one repository', name('signed'), docker({ [host]: ours }), 'rejected', {
      'a.yaml': `docker:\n  ${site.address}:\n    use-sigstore-attachments: true\n`,
      'b.yaml': `docker:\n  ${site.address}/ns/signed:\n    use-sigstore-attachments: false\n`,
    }),
    judge('a closer scope that says something else only', name('signed'), docker({ [host]: ours }), 'accepted', {
      'a.yaml': `docker:\n  ${site.address}:\n    use-sigstore-attachments: true\n`,
      'b.yaml': `docker:\n  ${site.address}/ns/signed:\n    lookaside: ${lookaside}\n`,
      'c.txt': 'no YAML: [',
    }),
    judge('one scope in two files', name('signed'), docker({ [host]: ours }), 'invalid', {
      'a.yaml': `docker:\n  ${host}:\n    use-sigstore-attachments: true\n`,
      'b.yaml': `docker:\n  ${host}:\n    use-sigstore-attachments: true\n`,
    }),
    judge(
      'matchRepository: a bare name',
      name('bare'),
      docker({ [host]: sigstore(site.key, identity('matchRepository')) }),
      'accepted',
    ),
    judge('the default: a bare name', name('bare'), docker({ [host]: ours }), 'rejected'),
    judge(
      'matchExact: the tag',
      name('signed'),
      docker({ [host]: sigstore(site.key, identity('matchExact')) }),
      'accepted',
    ),
    judge(
      'matchExact: by digest',
      digest('signed'),
      docker({ [host]: sigstore(site.key, identity('matchExact')) }),
      'rejected',
    ),
    judge(
      'exactReference',
      name('othername'),
      docker({
        [host]: sigstore(site.key, identity('exactReference', { dockerReference: `${host}/ns/someone-else:1` })),
      }),
      'accepted',
    ),
    judge(
      'exactRepository',
      name('othername'),
      docker({
        [host]: sigstore(site.key, identity('exactRepository', { dockerRepository: `${host}/ns/someone-else` })),
      }),
      'accepted',
    ),
    judge(
      'exactRepository: another',
      name('signed'),
      docker({ [host]: sigstore(site.key, identity('exactRepository', { dockerRepository: `${host}/ns` })) }),
      'rejected',
    ),
    judge(
      'remapIdentity: a mirror',
      'mirror.example.test/ns/signed:1',
      docker({
        'mirror.example.test': sigstore(
          site.key,
          identity('remapIdentity', { prefix: 'mirror.example.test', signedPrefix: host }),
        ),
      }),
      'accepted',
    ),
    judge('no remapIdentity', 'mirror.example.test/ns/signed:1', docker({ 'mirror.example.test': ours }), 'rejected'),
    judge('every image of an index', name('multi'), docker({ [host]: ours }), 'accepted'),
    judge('one image of an index is not signed', name('half'), docker({ [host]: ours }), 'rejected'),
    judge('only the index is signed', name('listonly'), docker({ [host]: ours }), 'rejected'),
    judge('GPG', name('gpg'), docker({ [host]: gpg(site.gpg) }), 'accepted'),
    judge('GPG: not there', name('signed'), docker({ [host]: gpg(site.gpg) }), 'rejected'),
    judge('GPG: for another digest', name('plain'), docker({ [host]: gpg(site.gpg) }), 'rejected'),
    judge('GPG: for another name', name('twice'), docker({ [host]: gpg(site.gpg) }), 'rejected'),
    judge(
      'GPG and sigstore',
      name('twice'),
      docker({
        [host]: [...ours, ...gpg(site.gpg, identity('exactRepository', { dockerRepository: `${host}/vendor/other` }))],
      }),
      'accepted',
    ),
    judge('GPG: both signers', name('gpg'), docker({ [host]: [...gpg(site.gpg), ...gpg(site.otherGpg)] }), 'accepted'),
    judge('GPG: another lookaside store', name('gpg'), docker({ [host]: gpg(site.gpg) }), 'rejected', {
      'a.yaml': `default-docker:\n  lookaside: ${lookaside}\ndocker:\n  ${site.address}/ns:\n    sigstore: ${lookaside}/none\n`,
    }),
    judge(
      'GPG: a key type that nobody implements',
      name('gpg'),
      docker({ [host]: gpg(site.gpg, { keyType: 'signedByGPGKeys' }) }),
      'rejected',
    ),
    judge(
      'GPG: no key in the file',
      name('gpg'),
      docker({ [host]: [{ type: 'signedBy', keyType: 'GPGKeys', keyPath: '/nonexistent' }] }),
      'rejected',
    ),
    judge('an unknown field', name('plain'), { default: accept, transport: {} }, 'invalid'),
    judge('an unknown field of a requirement', name('plain'), { default: [{ type: 'reject', why: '' }] }, 'invalid'),
    judge('no default', name('plain'), { transports: {} }, 'invalid'),
    judge('no requirement', name('plain'), { default: [] }, 'invalid'),
    judge(
      'a key that stands twice',
      name('plain'),
      '{"default": [{"type": "reject"}], "default": [{"type": "insecureAcceptAnything"}]}',
      'invalid',
    ),
    judge(
      'an unknown identity',
      name('plain'),
      docker({ [host]: sigstore(site.key, identity('matchAnything')) }),
      'invalid',
    ),
    judge(
      'an exactReference without a tag',
      name('plain'),
      docker({ [host]: sigstore(site.key, identity('exactReference', { dockerReference: `${host}/a` })) }),
      'invalid',
    ),
    judge(
      'a prefix that is none',
      name('plain'),
      docker({
        [host]: sigstore(site.key, identity('remapIdentity', { prefix: '*.example.test', signedPrefix: host })),
      }),
      'invalid',
    ),
    judge('two keys', name('plain'), docker({ [host]: gpg(site.gpg, { keyPath: '/a' }) }), 'invalid'),
    judge('no key', name('plain'), docker({ [host]: [{ type: 'sigstoreSigned' }] }), 'invalid'),
  ]
}

/** Logs, certificates and several keys, which came to containers/image after 5.22. */
function newerCasesOf(site: Site): readonly Case[] {
  const data = (text: string) => Buffer.from(text).toString('base64')
  const keyData = data(site.key.publicPem)
  const rekor = { rekorPublicKeyData: data(site.log.publicPem) }
  const fulcio = { caData: data(site.root.pem), oidcIssuer: subject.issuer, subjectEmail: subject.email }
  const pki = { caRootsData: data(site.root.pem), subjectEmail: subject.email }
  const judge = (title: string, path: string, requirement: object, verdict: Verdict): Case => ({
    name: title,
    image: `${host}/ns/${path}:1`,
    policy: { default: [{ type: 'sigstoreSigned', ...requirement }] },
    verdict,
    isNewer: true,
  })
  const otherKey = data(site.otherKey.publicPem)
  return [
    judge('several keys', 'signed', { keyDatas: [otherKey, keyData] }, 'accepted'),
    judge('several keys, none fits', 'signed', { keyDatas: [otherKey] }, 'rejected'),
    judge('logged', 'logged', { keyData, ...rekor }, 'accepted'),
    judge('not logged', 'signed', { keyData, ...rekor }, 'rejected'),
    judge('another log', 'logged', { keyData, rekorPublicKeyData: otherKey }, 'rejected'),
    judge(
      'one of two logs',
      'logged',
      { keyData, rekorPublicKeyDatas: [otherKey, rekor.rekorPublicKeyData] },
      'accepted',
    ),
    judge('logged for another key', 'logged', { keyData: otherKey, ...rekor }, 'rejected'),
    judge('fulcio', 'person', { fulcio, ...rekor }, 'accepted'),
    judge(
      'fulcio: another person',
      'person',
      { fulcio: { ...fulcio, subjectEmail: 'a@b.test' }, ...rekor },
      'rejected',
    ),
    judge(
      'fulcio: another issuer',
      'person',
      { fulcio: { ...fulcio, oidcIssuer: 'https://a.test' }, ...rekor },
      'rejected',
    ),
    judge('fulcio: a bare key', 'logged', { fulcio, ...rekor }, 'rejected'),
    judge('fulcio without a log', 'person', { fulcio }, 'invalid'),
    judge('pki', 'person', { pki }, 'accepted'),
    judge('pki: another person', 'person', { pki: { ...pki, subjectEmail: 'a@b.test' } }, 'rejected'),
    judge('pki with a log', 'person', { pki, ...rekor }, 'invalid'),
    judge('pki without a subject', 'person', { pki: { caRootsData: pki.caRootsData } }, 'invalid'),
  ]
}
