/** Every fault of the kit changes what it says, and nothing else: the rehearsal is judged by them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { digestOf } from '../../src/oci/digest.ts'
import { parseRegistriesConf } from '../../src/registries/parse.ts'
import { hostPaths } from '../../testkit/bootstrap-faults/bootstrap-fault.ts'
import { soundBootstraps } from '../../testkit/bootstrap-faults/sound-bootstraps.ts'
import { bootstrapFaults, type FaultySite, startFaultyBootstrap } from '../../testkit/bootstrap-faults.ts'
import { bootstrapFindings } from '../../testkit/bootstrap-findings.ts'
import type { BootstrapMirror } from '../../testkit/bootstrap-mirror.ts'
import {
  type BootstrapSite,
  mirrorName,
  startBootstrapSite,
  startEmbeddedBootstrapSite,
} from '../../testkit/bootstrap-site.ts'
import { IgnitionDocument } from '../../testkit/ignition-document.ts'
import { peer } from '../../testkit/peers.ts'

interface Expectation {
  /** Paths of files and names of units that are others than in the site's own; `text` where it is no JSON any more. */
  readonly changes?: readonly string[]
  /** What a client that trusts the site's authority and knows its password gets. Default: `200`. */
  readonly answer?: string
  /** What is not there, or not right. */
  readonly lacks?: RegExp
  /** The text of the first file that changed. */
  readonly text?: RegExp
  readonly also?: (faulty: FaultySite, t: TestContext) => void | Promise<void>
}

const { registries, trustBundle, pullSecret, bootkube } = hostPaths
const inRegistries = (text?: RegExp): Expectation => ({ changes: [registries], ...(text && { text }) })
const refusedRegistries: Expectation = {
  changes: [registries],
  also: ({ ignition }) => {
    const text = new IgnitionDocument(ignition).read(registries)
    assert.throws(() => parseRegistriesConf(text, registries))
  },
}
const releaseScripts = ['/usr/local/bin/release-image.sh', '/usr/local/bin/release-image-download.sh']
const manifest = (name: string) => `/opt/openshift/manifests/${name}`
const proxyFiles = ['/etc/profile.d/proxy.sh', '/etc/systemd/system.conf.d/10-default-env.conf']

const expectations: Readonly<Record<string, Expectation>> = {
  'ca-removed': { changes: [trustBundle], text: /^$/ },
  'ca-file-missing': { changes: [trustBundle] },
  'ca-of-another-registry': { changes: [trustBundle], also: ({ ignition, site }) => isUnknown(ignition, site.ca) },
  'chain-not-sent': { answer: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
  'leaf-instead-of-ca': { changes: [trustBundle], also: ({ ignition }) => assert.equal(trusted(ignition).ca, false) },
  'trust-bundle-no-pem': { changes: [trustBundle], text: /^MII[A-Za-z0-9+/=]+\n$/ },
  'trust-bundle-text-after': { changes: [trustBundle], text: /-----END CERTIFICATE-----\n\n# added by hand\n$/ },
  'trust-bundle-cut': { changes: [trustBundle], text: /^-----BEGIN CERTIFICATE-----(?!.*END)/s },
  'certificate-for-another-name': { answer: 'ERR_TLS_CERT_ALTNAME_INVALID' },
  // Node goes by the common name where no host is named; Go does not.
  'certificate-for-the-address': { also: ({ site }) => shows(site, 'IP Address:127.0.0.1') },
  'certificate-without-san': { also: ({ site }) => shows(site, undefined) },
  'certificate-expired': { answer: 'CERT_HAS_EXPIRED' },
  'certificate-not-yet-valid': { answer: 'CERT_NOT_YET_VALID' },
  'credentials-missing': { changes: [pullSecret], text: /"quay\.io":/ },
  'credentials-for-another-port': { changes: [pullSecret], text: /"mirror\.lab\.test:5000":/ },
  'credentials-without-port': { changes: [pullSecret], text: /"mirror\.lab\.test":/ },
  'credentials-wrong': { answer: '401' },
  'credentials-may-not-read': { also: async ({ site }) => assert.equal(await ask(site, componentPath(site)), '403') },
  'pull-secret-no-json': { changes: [pullSecret], text: /\},\}$/ },
  'pull-secret-of-nodes': { changes: [manifest('openshift-config-secret-pull-secret.yaml')] },
  'registry-down': { answer: 'ECONNREFUSED' },
  'registry-silent': { answer: 'silence' },
  'registry-503': { answer: '503' },
  'registry-storage-fails': { also: async ({ site }) => assert.equal(await ask(site, blobPath(site)), '500') },
  'registry-429': { answer: '429' },
  'page-instead-of-registry': { answer: '200 text/html' },
  'plain-http': { answer: 'EPROTO' },
  'release-image-missing': { answer: '404', lacks: /^release-images manifest$/ },
  'rhel-coreos-missing': { lacks: /^rhel-coreos manifest$/ },
  'component-missing': { lacks: /^cluster-config-operator manifest$/ },
  'etcd-missing': { lacks: /^etcd manifest$/ },
  'node-component-missing': { lacks: /^coredns manifest$/ },
  'components-missing': { lacks: /^(?:[a-z-]+ manifest,?){23}$/ },
  'config-missing': { lacks: /^cluster-kube-apiserver-operator config$/ },
  'layer-missing': { lacks: /^machine-config-operator layer$/ },
  'layer-of-the-release-missing': { lacks: /^release-images layer$/ },
  'layer-truncated': { lacks: /^cluster-bootstrap layer damaged$/ },
  'config-damaged': { lacks: /^cluster-kube-scheduler-operator config damaged$/ },
  'signature-missing': { lacks: /^release-images signature$/ },
  'wrong-architecture': {
    also: ({ site }) => assert.equal(site.release.image.descriptor.platform?.architecture, 'arm64'),
  },
  'tag-under-digest-mirrors': { changes: releaseScripts, text: /ocp-release:4\.16\.9-x86_64\b(?!@)/ },
  'only-release-covered': inRegistries(/^(?!.*art-dev).*ocp-release/s),
  'only-components-covered': inRegistries(/^(?!.*ocp-release").*art-dev/s),
  'no-mirrors': inRegistries(/^$/),
  'mirror-path-flattened': inRegistries(/ocp\/openshift4".*ocp\/openshift4"/s),
  'mirror-paths-swapped': inRegistries(/art-dev".*ocp\/openshift\/release-images"/s),
  'source-blocked-mirror-empty': {
    ...inRegistries(/blocked = true/),
    answer: '404',
    lacks: /^release-images manifest$/,
  },
  'mirror-blocked': inRegistries(/location = "mirror\.lab\.test:\d+"\nblocked = true\n$/),
  'source-without-mirror-blocked': inRegistries(/art-dev"\nblocked = true\n$/),
  'registries-conf-broken': refusedRegistries,
  'registries-conf-url': refusedRegistries,
  'registries-conf-conflict': refusedRegistries,
  'registries-conf-mixed': refusedRegistries,
  'registries-drop-in-broken': { changes: ['/etc/containers/registries.conf.d/99-site.conf'], text: /^\[registries\./ },
  'registries-conf-private': { changes: [registries] },
  'mirror-at-localhost': inRegistries(/^(?!.*mirror\.lab).*"localhost:\d+\/ocp/s),
  'mirrors-insecure': inRegistries(/(?:\[\[registry\.mirror\]\]\n.*\ninsecure = true\n.*){2}/s),
  'hosts-entry-for-quay': { changes: ['/etc/hosts'], text: /^10\.0\.0\.10 quay\.io/m },
  'nodes-have-other-mirrors': { changes: [manifest('image-digest-mirror-set.yaml')], text: /old-mirror\.lab\.test/ },
  'nodes-have-no-mirrors': { changes: [manifest('image-digest-mirror-set.yaml')] },
  'mirror-unresolved': { also: ({ via }) => assert.equal(via[mirrorName], undefined) },
  'api-unresolved': { also: ({ via }) => assert.equal(via['api.demo.lab.test'], undefined) },
  'api-int-unresolved': { also: ({ via }) => assert.equal(via['api-int.demo.lab.test'], undefined) },
  'no-proxy-without-mirror': { also: ({ ignition }) => assert.match(readProxy(ignition), /NO_PROXY="(?!.*mirror)/) },
  'proxy-refuses': { changes: proxyFiles, text: /HTTP_PROXY="http:\/\/proxy\.lab\.test:(?!3128)\d+"/ },
  'clock-behind': { also: ({ site, clock }) => assert.equal(hours(clock.now() - site.clock.now()), -2) },
  'clock-ahead': { also: ({ site, clock }) => assert.equal(hours(clock.now() - site.clock.now()), 25) },
  'bootstrap-too-old': { also: ({ ignition, clock }) => assert.equal(hours(clock.now() - dayEnd(ignition)), 1) },
  'bootstrap-from-the-future': {
    also: ({ ignition, clock }) => assert.equal(hours(dayEnd(ignition) - clock.now()), 27),
  },
  'ignition-cut': { changes: ['text'], also: refusedByIgnition },
  'ignition-unsupported-version': { changes: ['version'], also: refusedByIgnition },
  'ignition-duplicate-path': { changes: [bootkube], also: refusedByIgnition },
  'ignition-relative-path': { changes: ['etc/chrony.conf'], also: refusedByIgnition },
  'ignition-data-url-broken': { changes: [bootkube], also: refusedByIgnition },
  'ignition-scheme-unknown': { changes: [bootkube], also: refusedByIgnition },
  'ignition-hash-mismatch': { changes: [bootkube] },
  'unit-syntax': { changes: ['bootkube.service'] },
  'unit-setting': { changes: ['release-image.service'] },
  'unit-script-missing': { changes: ['bootkube.service'] },
  'unit-cycle': { changes: ['release-image.service'] },
  'script-cut': { changes: [bootkube], also: refusedByShell },
  'script-of-windows': { changes: ['/usr/local/bin/release-image-download.sh'], also: refusedByShell },
  'script-not-executable': { changes: [bootkube] },
  'script-library-missing': { changes: ['/usr/local/bin/release-image.sh'] },
  'release-images-differ': { changes: ['/usr/local/bin/release-image-download.sh'], text: /@sha256:b{64}/ },
  'script-at-localhost': { changes: releaseScripts, text: /localhost:5000\/ocp\/release@sha256:/ },
  'manifest-broken': { changes: ['/opt/openshift/openshift/99-chrony.yaml'], text: /\n metadata:\n\t/ },
  'manifest-no-object': { changes: ['/opt/openshift/openshift/99-notes.yaml'], text: /^remember:/ },
  'day-certificate-expired': {
    changes: ['/opt/openshift/tls/kubelet-signer.crt', '/opt/openshift/tls/kubelet-signer.key'],
    also: ({ ignition, clock }) => assert.equal(hours(clock.now() - dayEnd(ignition)), 6),
  },
  'trust-of-nodes-missing': { changes: [manifest('user-ca-bundle-config.yaml')] },
}

for (const fault of bootstrapFaults) {
  test(`${fault.id}: ${fault.title}`, async (t) => {
    const expected = expectations[fault.id] ?? assert.fail('nobody says what this fault changes')
    const faulty = await startFaultyBootstrap(t, fault)
    const changes = changesOf(faulty.site.ignition, faulty.ignition)
    assert.deepEqual([...changes].sort(), [...(expected.changes ?? [])].sort())
    assert.equal(await ask(faulty.site, releasePath(faulty)), expected.answer ?? '200')
    assert.match(lacking(faulty.site).join(), expected.lacks ?? /^$/)
    const [path = ''] = expected.changes ?? []
    if (expected.text) assert.match(new IgnitionDocument(faulty.ignition).read(path), expected.text)
    await expected.also?.(faulty, t)
  })
}

test('the table has a name for every fault, and a fault for every finding', () => {
  const ids = bootstrapFaults.map(({ id }) => id)
  assert.deepEqual([...new Set(ids)], ids)
  assert.deepEqual(Object.keys(expectations).sort(), [...ids].sort())
  const named = new Set(bootstrapFaults.map(({ expect }) => expect))
  assert.deepEqual([...named].sort(), Object.keys(bootstrapFindings).sort())
})

for (const sound of soundBootstraps) {
  test(`sound, ${sound.id}: ${sound.title}`, async (t) => {
    const arranged = await startFaultyBootstrap(t, sound)
    assert.equal(await ask(arranged.site, releasePath(arranged)), '200')
    assert.deepEqual(lacking(arranged.site), [])
    const validate = peer(t, 'ignition-validate')
    if (validate !== undefined) assert.equal(spawnSync(validate, [arranged.path]).status, 0)
    parseRegistriesConf(new IgnitionDocument(arranged.ignition).read(registries), registries)
  })
}

test('a sound site has everything, and answers who knows its name, authority and password', async (t) => {
  for (const components of ['small', 'whole'] as const) {
    const site = await startBootstrapSite(t, { components })
    assert.deepEqual(lacking(site), [])
    assert.equal(await ask(site, releasePath({ site })), '200')
    assert.equal(site.release.components.length, components === 'small' ? 23 : 190)
  }
})

test('our own registry as the mirror answers the same, and lacks what was taken out of it', async (t) => {
  const site = await startEmbeddedBootstrapSite(t)
  const { release, mirror } = site
  assert.equal(await ask(site, releasePath({ site })), '200')
  assert.equal(
    await ask({ ...site, credentials: { username: 'mirror', password: 'other' } }, releasePath({ site })),
    '401',
  )
  const [first, second] = release.components
  await mirror.removeManifest('ocp/openshift/release', String(first?.image.digest))
  assert.equal(await ask(site, componentPath(site)), '404')
  const digest = second?.image.blobs[0]?.descriptor.digest ?? assert.fail('no blob')
  await mirror.removeBlob('ocp/openshift/release', digest)
  assert.equal(await ask(site, `/v2/ocp/openshift/release/blobs/${digest}`), '404')
  const signature = `${release.image.digest.replace(':', '-')}.sig`
  const path = `/v2/ocp/openshift/release-images/manifests/${signature}`
  assert.equal(await ask(site, path), '200')
  await mirror.removeManifest('ocp/openshift/release-images', signature)
  assert.equal(await ask(site, path), '404')
})

/** What is another in the second config than in the first. */
function changesOf(before: string, after: string): readonly string[] {
  const parsed = parse(after)
  if (parsed === undefined) return ['text']
  const one = parse(before)
  const parts = (config: Config | undefined) => [
    ...(config?.storage.files ?? []).map((file) => [file.path, file] as const),
    ...(config?.systemd.units ?? []).map((unit) => [unit.name, unit] as const),
    ['version', config?.ignition.version] as const,
  ]
  const grouped = (config: Config | undefined) => Map.groupBy(parts(config), ([name]) => name)
  const [first, second] = [grouped(one), grouped(parsed)]
  return [...new Set([...first.keys(), ...second.keys()])].filter(
    (name) => !isDeepStrictEqual(first.get(name), second.get(name)),
  )
}

interface Config {
  readonly ignition: { readonly version: string }
  readonly storage: { readonly files: readonly { readonly path: string }[] }
  readonly systemd: { readonly units: readonly { readonly name: string }[] }
}

function parse(text: string): Config | undefined {
  try {
    return JSON.parse(text) as Config
  } catch {
    return undefined
  }
}

type Site = FaultySite['site']
/** Whatever its mirror is. */
type AnySite = BootstrapSite<BootstrapMirror>

function releasePath({ site }: { readonly site: AnySite }): string {
  return `/v2/ocp/openshift/release-images/manifests/${site.release.image.digest}`
}

function componentPath({ release }: AnySite): string {
  return `/v2/ocp/openshift/release/manifests/${release.components[0]?.image.digest}`
}

function blobPath({ release }: AnySite): string {
  return `/v2/ocp/openshift/release/blobs/${release.components[0]?.image.blobs[0]?.descriptor.digest}`
}

/** A status, with the type of a page; or the code of what went wrong. */
function ask({ ca, credentials, mirror }: AnySite, path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const asked = request(
    {
      ...{ host: '127.0.0.1', port: mirror.port, path, ca, servername: mirrorName, agent: new Agent() },
      auth: `${credentials.username}:${credentials.password}`,
      timeout: 500,
    },
    (answer) => {
      answer.resume()
      const isPage = answer.headers['content-type'] === 'text/html'
      resolve(`${answer.statusCode}${isPage ? ' text/html' : ''}`)
    },
  )
  asked.once('timeout', () => {
    resolve('silence')
    asked.destroy()
  })
  asked.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
  asked.end()
  return promise
}

/** What the mirror should hold and does not, or holds in another form. */
function lacking({ mirror, release }: Site): readonly string[] {
  const { manifests, blobs, links, tags } = mirror.content
  const parts = [
    { name: 'release-images', repository: 'ocp/openshift/release-images', image: release.image },
    ...release.components.map(({ name, image }) => ({ name, repository: 'ocp/openshift/release', image })),
  ]
  const found = parts.flatMap(({ name, repository, image }) => [
    ...(manifests.has(`${repository}@${image.digest}`) ? [] : [`${name} manifest`]),
    ...image.blobs.flatMap(({ descriptor: { digest, mediaType } }) => {
      const kind = /layer|rootfs/.test(mediaType) ? 'layer' : 'config'
      if (!links.has(`${repository}@${digest}`)) return [`${name} ${kind}`]
      return digestOf(blobs.get(digest) ?? new Uint8Array()) === digest ? [] : [`${name} ${kind} damaged`]
    }),
  ])
  const signature = `ocp/openshift/release-images:${release.image.digest.replace(':', '-')}.sig`
  return tags.has(signature) ? found : [...found, 'release-images signature']
}

function trusted(ignition: string): X509Certificate {
  return new X509Certificate(new IgnitionDocument(ignition).read(trustBundle))
}

function isUnknown(ignition: string, ca: string): void {
  assert.equal(trusted(ignition).subject, new X509Certificate(ca).subject)
  assert.notEqual(trusted(ignition).fingerprint256, new X509Certificate(ca).fingerprint256)
}

/** Asserts the names in the certificate that the mirror shows. */
async function shows({ mirror }: Site, names: string | undefined): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port: mirror.port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  assert.equal(socket.getPeerX509Certificate()?.subjectAltName, names)
  socket.destroy()
}

function readProxy(ignition: string): string {
  return new IgnitionDocument(ignition).read('/etc/profile.d/proxy.sh')
}

function hours(milliseconds: number): number {
  return Math.round(milliseconds / 3_600_000)
}

/** When a certificate of a day ends. */
function dayEnd(ignition: string): number {
  const pem = new IgnitionDocument(ignition).read('/opt/openshift/tls/kubelet-signer.crt')
  return Date.parse(new X509Certificate(pem).validTo)
}

function refusedByIgnition({ path }: FaultySite, t: TestContext): void {
  const validate = peer(t, 'ignition-validate')
  if (validate === undefined) return
  assert.equal(spawnSync(validate, [path]).status, 1)
}

function refusedByShell({ site, ignition }: FaultySite): void {
  const [path = ''] = changesOf(site.ignition, ignition)
  const input = new IgnitionDocument(ignition).read(path)
  assert.notEqual(spawnSync('bash', ['-n'], { input }).status, 0)
}
