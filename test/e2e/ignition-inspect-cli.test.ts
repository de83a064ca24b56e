import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encodeDataUrl } from '../../src/ignition/data-url.ts'
import { sampleBootstrap } from '../../src/quickstart/sample-bootstrap/bootstrap-config.ts'
import { bootstrapEras, type SampleBootstrapOptions } from '../../src/quickstart/sample-bootstrap/bootstrap-options.ts'
import { sampleTlsAssets } from '../../src/quickstart/sample-bootstrap/tls-assets.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { makeSiteAuthority } from '../../testkit/site-certificates.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const hourMs = 60 * 60 * 1000
const releaseImage = `quay.io/openshift-release-dev/ocp-release@sha256:${'5'.repeat(64)}`
const auth = Buffer.from('mirror:hunter2').toString('base64')
const mirrored = [
  { source: 'quay.io/openshift-release-dev/ocp-release', mirrors: ['mirror.lab.test:8443/ocp/release-images'] },
  { source: 'quay.io/openshift-release-dev/ocp-v4.0-art-dev', mirrors: ['mirror.lab.test:8443/ocp/release'] },
]

/** The text of a sample that was made an hour ago, or `ageMs`. */
async function sampleText(
  given: Partial<SampleBootstrapOptions> = {},
  { seed = 'one', ageMs = hourMs } = {},
): Promise<string> {
  const authority = await makeSiteAuthority({ now: Date.now(), name: 'Lab CA' })
  return sampleBootstrap({
    era: '4.21',
    releaseImage,
    digestSources: mirrored,
    trustBundle: authority.pem,
    pullSecret: `{"auths":{"mirror.lab.test:8443":{"auth":"${auth}"}}}`,
    sshKeys: ['ssh-ed25519 AAAA someone@lab.test'],
    tls: await sampleTlsAssets({ seed, notBefore: Date.now() - ageMs }),
    ...given,
  })
}

interface Inspected extends CliResult {
  readonly dir: string
}

/** Runs `sallyport ignition inspect` in a folder with these files. */
async function inspect(t: TestContext, files: Readonly<Record<string, string>>, ...args: string[]): Promise<Inspected> {
  const dir = await tempDir(t)
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  return { ...(await runCli(['ignition', 'inspect', ...args], { cwd: dir })), dir }
}

test('inspect tells what a bootstrap config holds, and until when it is of use', async (t) => {
  const proxy = { httpProxy: 'http://me:s3cret@proxy.lab.test:3128', noProxy: '.lab.test' }
  const { status, stdout, stderr } = await inspect(t, { 'b.ign': await sampleText({ proxy }) }, 'b.ign')
  assert.equal(status, 0, stdout + stderr)
  for (const expected of [
    /^b\.ign: bootstrap config of OpenShift 4\.\d+, Ignition 3\.2\.0, \d+ KiB$/m,
    /^cluster demo\.lab\.test, platform none, amd64$/m,
    /^use it before \d{4}-\d\d-\d\d \d\d:\d\d UTC \(in (?:22 h 59|23 h 0) min\)$/m,
    new RegExp(
      `^release +${releaseImage}\\n +/usr/local/bin/release-image-download\\.sh:\\d+, and \\d+ more lines$`,
      'm',
    ),
    /17 names that scripts ask the release for:\n/,
    /^names +api\.demo\.lab\.test, api-int\.demo\.lab\.test\n +machines get their configs from api-int\.demo\.lab\.test:22623$/m,
    /^ +mirror\.lab\.test:8443\/ocp\/release-images, by digest$/m,
    /^nodes +do the same$/m,
    /^trust +CN=Lab CA, until .* \(in 10\.0 years\)$/m,
    /^credentials +for mirror\.lab\.test:8443$/m,
    /^proxies +HTTP by http:\/\/proxy\.lab\.test:3128$/m,
    /^users +core: 1 SSH key$/m,
    /^ +0555 .* bootkube\.sh +the bootstrap itself: /m,
    /^tls: \d+ files, /m,
    /^● bootkube\.service {3}simple\n│ {2}the bootstrap: renders/m,
  ])
    assert.match(stdout, expected)
  assert.doesNotMatch(stdout, /s3cret|PRIVATE KEY/)
  assert.ok(!stdout.includes(auth))
})

test('--json prints one document with everything but secrets', async (t) => {
  const proxy = { httpsProxy: 'http://me:s3cret@proxy.lab.test:3128' }
  const text = await sampleText({ proxy })
  const { status, stdout } = await inspect(t, { 'b.ign': text }, '--json', 'b.ign')
  assert.equal(status, 0)
  const { configs, findings } = JSON.parse(stdout)
  const [config] = configs
  assert.deepEqual(findings, [])
  assert.deepEqual([config.kind, config.version, config.sizeBytes], ['bootstrap', '3.2.0', text.length])
  assert.deepEqual(config.credentials, { path: '/root/.docker/config.json', hosts: ['mirror.lab.test:8443'] })
  assert.equal(config.proxy.httpsProxy, 'http://proxy.lab.test:3128')
  assert.equal(
    config.images.find(({ name }: { name: string }) => name === 'etcd').evidence[0].file,
    '/usr/local/bin/bootkube.sh',
  )
  assert.equal(config.files.find(({ path }: { path: string }) => path === '/root/.docker/config.json').isSecret, true)
  assert.equal(
    config.certificates.filter(({ isShortLived }: { isShortLived: boolean }) => isShortLived).length > 5,
    true,
  )
  assert.doesNotMatch(stdout, /s3cret|PRIVATE KEY|client-key-data/)
  assert.ok(!stdout.includes(auth))
})

test('every file and unit of every sample is explained, and every unit starts', async (t) => {
  const eras = bootstrapEras.flatMap((era) =>
    (['none', 'vsphere', 'aws', 'baremetal'] as const).map((platform) => ({ era, platform })),
  )
  const files = Object.fromEntries(
    await Promise.all(
      eras.map(async (given) => [`${given.era}-${given.platform}.ign`, await sampleText(given)] as const),
    ),
  )
  const { stdout, stderr } = await inspect(t, files, '--json', ...Object.keys(files))
  assert.equal(stderr, '')
  for (const { file, files: held, units } of JSON.parse(stdout).configs) {
    const added = held.filter(({ isAdded }: { isAdded: boolean }) => isAdded)
    assert.deepEqual(
      added.map(({ path }: { path: string }) => path),
      [],
      file,
    )
    const order: { name: string; purpose: string; isStarted: boolean }[] = units.order
    assert.deepEqual(
      order.filter(({ purpose, isStarted }) => purpose.startsWith('added') || !isStarted),
      [],
      file,
    )
    const names = order.map(({ name }) => name)
    assert.ok(names.indexOf('release-image.service') < names.indexOf('bootkube.service'), file)
  }
})

test('--files, --units and --certificates show that alone, and all of it', async (t) => {
  const files = { 'b.ign': await sampleText() }
  const [own, units, certificates] = await Promise.all(
    ['--files', '--units', '--certificates'].map((option) => inspect(t, files, 'b.ign', option)),
  )
  assert.match(own?.stdout ?? '', /kube-apiserver-lb-signer\.key +private key: the authority behind the API/)
  assert.doesNotMatch(own?.stdout ?? '', /^release|●/m)
  assert.match(units?.stdout ?? '', /^●/)
  assert.match(certificates?.stdout ?? '', /^use it before .*\n\n/)
  assert.match(certificates?.stdout ?? '', /^CN=system:machine-config-server$|^.*machine-config-server.*$/m)
  assert.match(certificates?.stdout ?? '', /^ {2}for api-int\.demo\.lab\.test$/m)
})

test('--cat prints a file or a unit as it will be, and secrets only where they are asked for', async (t) => {
  const proxy = { httpProxy: 'http://me:s3cret@proxy.lab.test:3128' }
  const files = { 'b.ign': await sampleText({ proxy }), 'c.ign': '{"ignition":{"version":"3.2.0"}}' }
  const cat = (...args: string[]) => inspect(t, files, '--cat', ...args)
  const conf = await cat('/etc/containers/registries.conf', 'b.ign')
  assert.equal(conf.status, 0)
  assert.match(conf.stdout, /^\[\[registry\]\]\nlocation = "quay\.io/)
  assert.match((await cat('bootkube.service', 'b.ign')).stdout, /^\[Unit\]/)
  for (const secret of [
    '/root/.docker/config.json',
    '/opt/openshift/tls/kubelet-signer.key',
    '/opt/openshift/auth/kubeconfig',
    '/etc/systemd/system.conf.d/10-default-env.conf',
    '/opt/openshift/manifests/openshift-config-secret-pull-secret.yaml',
  ]) {
    const refused = await cat(secret, 'b.ign')
    assert.deepEqual([refused.status, refused.stdout], [64, ''], secret)
    assert.match(refused.stderr, /holds secrets/)
    assert.equal((await cat(secret, 'b.ign', '--show-secrets')).status, 0, secret)
  }
  assert.match((await cat('/no/such', 'b.ign')).stderr, /b\.ign holds no \/no\/such/)
  assert.equal((await cat('/etc/motd', 'b.ign', 'c.ign')).status, 64)
})

test('configs of two runs are told apart by their root CA, and 1 is the exit status', async (t) => {
  const run = await sampleTlsAssets({ seed: 'one', notBefore: Date.now() - hourMs })
  const other = await sampleTlsAssets({ seed: 'two', notBefore: Date.now() - hourMs })
  const pointer = (role: string, ca: string, host = 'api-int.demo.lab.test') =>
    JSON.stringify({
      ignition: {
        version: '3.2.0',
        config: { merge: [{ source: `https://${host}:22623/config/${role}` }] },
        security: { tls: { certificateAuthorities: [{ source: encodeDataUrl(ca) }] } },
      },
    })
  const files = {
    'bootstrap.ign': await sampleText({ tls: run }),
    'master.ign': pointer('master', other['root-ca.crt'] ?? ''),
    'worker.ign': pointer('worker', run['root-ca.crt'] ?? '', '10.0.0.5'),
  }
  const both = await inspect(t, files, 'master.ign', 'bootstrap.ign')
  assert.equal(both.status, 1)
  assert.match(
    both.stdout,
    /error ignition\.another-run: master\.ign is of another run than bootstrap\.ign: its root CA differs\n/,
  )
  const same = await inspect(t, files, 'worker.ign', 'bootstrap.ign')
  assert.equal(same.status, 0, same.stdout)
  assert.match(same.stdout, /^worker\.ign: pointer config for worker/m)
  assert.match(same.stdout, /^points to +https:\/\/10\.0\.0\.5:22623\/config\/worker$/m)
  assert.match(same.stdout, /warning ignition\.another-server: worker\.ign points to 10\.0\.0\.5:22623/)
})

test('a config that is older than its certificates is an error, with the time since when', async (t) => {
  const text = await sampleText({}, { ageMs: 30 * hourMs })
  const { status, stdout } = await inspect(t, { 'b.ign': text }, 'b.ign')
  assert.equal(status, 1)
  assert.match(stdout, /^expired since .* UTC \((?:5 h 59|6 h 0) min ago\): make it anew$/m)
  assert.match(stdout, /^error ignition\.expired: /m)
})

test('what bootstrap host and nodes do differently is shown side by side', async (t) => {
  const idms = `apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata:
  name: image-digest-mirror
spec:
  imageDigestMirrors:
  - source: quay.io/openshift-release-dev/ocp-release
    mirrors:
    - other.lab.test/ocp
`
  const text = await sampleText({ manifests: { 'manifests/image-digest-mirror-set.yaml': idms } })
  const { status, stdout } = await inspect(t, { 'b.ign': text }, 'b.ign')
  assert.equal(status, 1, 'the components have no mirror on the nodes')
  assert.match(
    stdout,
    /^nodes +quay\.io\/openshift-release-dev\/ocp-v4\.0-art-dev by digest\n +bootstrap +mirror\.lab\.test:8443\/ocp\/release, .*\n +nodes +quay\.io/m,
  )
  assert.match(stdout, /^error registries\.differ-only-bootstrap: /m)
  assert.match(stdout, /^warning registries\.differ-mirrors: /m)
})

const machineConfig = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-worker-kernel
  labels: {machineconfiguration.openshift.io/role: worker}
spec:
  kernelArguments: [nosmt]
  config:
    ignition: {version: 3.4.0}
    storage:
      files:
        - path: /etc/chrony.conf
          mode: 420
          contents: {source: "data:,server%20ntp.lab.test"}
`

test('a MachineConfig is read for its config, Butane is told apart, and what is neither does not load', async (t) => {
  const { status, stdout } = await inspect(t, { 'mc.yaml': machineConfig }, 'mc.yaml')
  assert.equal(status, 0)
  assert.match(stdout, /^mc\.yaml: config of a machine for worker, Ignition 3\.4\.0/)
  assert.match(stdout, /^asks for +kernelArguments: nosmt$/m)
  assert.match(stdout, /0644 +19 B +\/etc\/chrony\.conf +which time servers are asked/)
  const butane = await inspect(t, { 'x.bu': 'variant: fcos\nversion: 1.5.0\n' }, 'x.bu')
  assert.equal(butane.status, 78)
  assert.match(butane.stderr, /this is Butane/)
  assert.equal((await inspect(t, { 'x.ign': '{' }, 'x.ign')).status, 78)
  assert.match((await inspect(t, {}, 'gone.ign')).stderr, /FILE_UNREADABLE/)
})
