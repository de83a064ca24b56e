import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { makeSiteAuthority } from '../../testkit/site-certificates.ts'
import { checkInstallConfig } from './check-install-config.ts'

const key = `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.alloc(36)]).toString('base64')} admin`

const sound = `apiVersion: v1
metadata:
  name: air1
baseDomain: lab.example.com
networking:
  networkType: OVNKubernetes
  machineNetwork:
  - cidr: 10.0.0.0/16
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  serviceNetwork: [172.30.0.0/16]
controlPlane: {name: master, replicas: 3, platform: {}}
compute:
- {name: worker, replicas: 2, platform: {}}
platform:
  none: {}
imageDigestSources:
- source: quay.io/openshift-release-dev/ocp-release
  mirrors: [mirror.lab:8443/ocp4/openshift/release-images]
- source: quay.io/openshift-release-dev/ocp-v4.0-art-dev
  mirrors: [mirror.lab:8443/ocp4/openshift/release]
pullSecret: '{"auths":{"mirror.lab:8443":{"auth":"dTpw"}}}'
sshKey: ${key}
`

function complaints(text: string, version = '4.18.9'): readonly string[] {
  return checkInstallConfig({ file: 'ic.yaml', text }, version).map(
    ({ severity, summary, where }) => `${severity} ${where?.line}:${where?.column} ${summary}`,
  )
}

const replaced = (from: string, to: string) => {
  assert.ok(sound.includes(from), from)
  return sound.replace(from, to)
}

test('nothing is said of a sound install-config', () => {
  for (const version of ['4.14.0', '4.18.9', '4.22.1', '5.0.0']) assert.deepEqual(complaints(sound, version), [])
})

const wrong: Readonly<Record<string, readonly [from: string, to: string, expected: string, version?: string]>> = {
  'a field that there is not, before it is refused': [
    'platform:\n  none',
    'privateLink: true\nplatform:\n  none',
    'warning 16:1 privateLink: install-config has no field "privateLink" here: it has no effect, and the installer refuses it from 4.22 on',
  ],
  'a field that there is not, since it is refused': [
    '  none: {}',
    '  none: {privateLink: true}',
    'error 17:10 platform.none.privateLink: install-config has no field "privateLink" here: the installer refuses it',
    '4.22.0',
  ],
  'mirrors in both fields': [
    'pullSecret',
    'imageContentSources:\n- source: quay.io/a\n  mirrors: [mirror.lab:8443/a]\npullSecret',
    'error 23:1 imageContentSources: imageDigestSources stands there too, and the installer takes only one of the two; keep imageDigestSources',
  ],
  'the newer field for an older installer': [
    'pullSecret',
    'pullSecret',
    'error 18:1 imageDigestSources: read from 4.14 on only: this release finds no mirror; write imageContentSources',
    '4.13.5',
  ],
  'a mirror with a tag': [
    'openshift/release]',
    'openshift/release:v1]',
    'error 22:13 imageDigestSources[1].mirrors[0]: "mirror.lab:8443/ocp4/openshift/release:v1" has a tag or digest, and must be repository--not reference; take it out',
  ],
  'a policy without a mirror': [
    '  mirrors: [mirror.lab:8443/ocp4/openshift/release]',
    '  sourcePolicy: NeverContactSource',
    'error 22:17 imageDigestSources[1].sourcePolicy: sourcePolicy cannot be configured without a mirror',
    '4.21.0',
  ],
  'half of a release': [
    'ocp-v4.0-art-dev\n',
    'other\n',
    'warning 18:1 imageDigestSources: no entry covers quay.io/openshift-release-dev/ocp-v4.0-art-dev, and the release needs both it and quay.io/openshift-release-dev/ocp-release; add its mirror',
  ],
  'a mirror without a login': [
    '"mirror.lab:8443":{',
    '"mirror.lab":{',
    'warning 23:1 pullSecret: the mirror mirror.lab:8443 is not in it: without a login there nothing is pulled; add it, by exactly this name and port',
  ],
  'a pull secret without a login': [
    '{"auth":"dTpw"}',
    '{}',
    'error 23:1 pullSecret: "mirror.lab:8443" requires either auth or credsStore',
  ],
  'a pull secret without quotes': [
    `'{"auths":{"mirror.lab:8443":{"auth":"dTpw"}}}'`,
    `{"auths":{"mirror.lab:8443":{"auth":"dTpw"}}}`,
    `error 23:1 pullSecret: text is wanted here; put the JSON between single quotes: '{"auths": …}'`,
  ],
  'publish where nothing is published': [
    'platform:\n  none',
    'publish: Internal\nplatform:\n  none',
    'error 16:10 publish: Internal publish strategy is not supported on "none" platform; take it out: nothing is published there that you do not publish yourself',
  ],
  'an address instead of a network': [
    '10.0.0.0/16',
    '10.0.0.7/16',
    'error 8:11 networking.machineNetwork[0].cidr: invalid network address. got 10.0.0.7/16, expecting 10.0.0.0/16',
  ],
  'networks that overlap': [
    '172.30.0.0/16',
    '10.129.0.0/16',
    'error 12:20 networking.serviceNetwork[0]: 10.129.0.0/16 must not overlap with 10.128.0.0/14',
  ],
  'a proxy that nodes would ask for the mirror': [
    'pullSecret',
    'proxy:\n  httpProxy: http://proxy.lab:3128\n  noProxy: .example.com\npullSecret',
    'warning 25:3 proxy.noProxy: the mirror mirror.lab is not in it, and the installer does not add it: nodes would ask the proxy for it; add mirror.lab',
  ],
  'a noProxy with a wildcard': [
    'pullSecret',
    'proxy:\n  httpProxy: http://proxy.lab:3128\n  noProxy: mirror.lab,*.example.com\npullSecret',
    'error 25:12 proxy.noProxy: each element of noProxy must be a IP, CIDR or domain without wildcard characters, which is violated by element 1 "*.example.com"',
  ],
  'a key that FIPS does not allow': [
    'metadata',
    'fips: true\nmetadata',
    'error 25:1 sshKey: SSH key type ssh-ed25519 unavailable when FIPS is enabled. Please use rsa or ecdsa.',
  ],
  'capabilities that a cluster needs': [
    'metadata',
    'capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [marketplace, OperatorLifecycleManager]}\nmetadata',
    'error 2:45 capabilities.additionalEnabledCapabilities: add Ingress: a cluster cannot be installed without it',
  ],
}

for (const [what, [from, to, expected, version]] of Object.entries(wrong)) {
  test(`told at its place: ${what}`, () => assert.deepEqual(complaints(replaced(from, to), version), [expected]))
}

test('the name of a field counts in any case of letters, as the installer reads it', () => {
  const text = sound
    .replace('imageDigestSources', 'ImageDigestSources')
    .replace('none: {}', 'baremetal: {apiVips: [10.1.0.5]}')
  assert.deepEqual(complaints(text), [
    'error 17:25 platform.baremetal.apiVIPs[0]: IP expected to be in one of the machine networks: 10.0.0.0/16',
  ])
})

test('a bundle ends with its last certificate, and every certificate is an authority', async () => {
  const { authority, issued } = await bundles()
  const withBundle = (pem: string) =>
    `${sound}additionalTrustBundlePolicy: Always\nadditionalTrustBundle: |\n${pem.replaceAll(/^(?=.)/gm, '  ')}`
  assert.deepEqual(complaints(withBundle(authority)), [])
  assert.deepEqual(complaints(withBundle(`# ours\n${authority}`)), [])
  assert.match(complaints(withBundle(`${authority}# the end\n`)).join('\n'), /^error 26:1 .*behind the last END line/)
  assert.match(
    complaints(withBundle(authority.replace(/\n.{20}/, '\nAAAA'))).join('\n'),
    /^error .*no certificate that can be read/,
  )
  assert.match(complaints(withBundle(issued)).join('\n'), /^warning .*not a certificate authority/)
})

async function bundles() {
  const authority = await makeSiteAuthority({ now: Date.UTC(2026, 0), name: 'mirror' })
  const { cert } = await authority.issue({ hosts: ['mirror.lab'] })
  return { authority: `${authority.pem.trim()}\n`, issued: `${cert.trim()}\n` }
}

test('no finding holds a secret', () => {
  const text = sound
    .replace('"auth":"dTpw"', '"auth":"dTpw",}hunter2hunter2')
    .replace(key, '-----BEGIN OPENSSH PRIVATE KEY----- hunter2hunter2')
    .replace('pullSecret', 'proxy: {httpProxy: "ftp://u:hunter2hunter2@p"}\npullSecret')
  const told = complaints(text)
  assert.equal(told.length, 4)
  assert.doesNotMatch(told.join('\n'), /hunter2/)
})

const corpus = fileURLToPath(new URL('../../../shared/data/install-configs', import.meta.url))
const crd = fileURLToPath(
  new URL('../../../shared/data/installer/schema/install.openshift.io_installconfigs.yaml', import.meta.url),
)
const skip = existsSync(corpus) && existsSync(crd) ? false : 'the corpus of real files is not here'

test("what the installer's own tests take has no errors here", { skip }, async () => {
  const files = (await readdir(corpus)).filter((name) => /testdata-agent-(?:image|pxe)-configurations/.test(name))
  assert.ok(files.length >= 10, String(files.length))
  for (const name of files) {
    const findings = checkInstallConfig({ file: name, text: await readFile(join(corpus, name), 'utf8') })
    assert.deepEqual(
      findings.filter(({ severity }) => severity === 'error'),
      [],
      name,
    )
  }
})

/** Errors of the real files: placeholders, left-out parts, and these, which the installer refuses too. */
const trulyWrong =
  /sshKey|pullSecret|additionalTrustBundle|noProxy must not have spaces|stands there too|"controlplane"|it must be v1|one platform|a mapping of fields|missing|FixMe|nobody has filled in|write the real value/

test('in real files nothing is an error but what the installer refuses too', { skip }, async () => {
  const names = await readdir(corpus)
  const texts = await Promise.all(names.map((name) => readFile(join(corpus, name), 'utf8')))
  const configs = texts.filter((text) => /^baseDomain:/m.test(text))
  assert.ok(configs.length > 150)
  const errors = configs.flatMap((text) =>
    checkInstallConfig({ file: 'ic.yaml', text }).filter(({ severity }) => severity === 'error'),
  )
  assert.deepEqual(
    errors.filter(({ summary }) => !trulyWrong.test(summary)),
    [],
  )
})

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly type?: string
}

test("every field of the installer's own schema is known", { skip }, async () => {
  const document = parse(await readFile(crd, 'utf8')) as {
    spec: { versions: { schema: { openAPIV3Schema: Schema } }[] }
  }
  const schema = document.spec.versions[0]?.schema.openAPIV3Schema ?? {}
  const of = (...path: string[]) =>
    path.reduce<Schema | undefined>((at, step) => (step === '[]' ? at?.items : at?.properties?.[step]), schema)
  const empty = (kind: string | undefined) =>
    ({ array: [], object: {}, boolean: false, string: 'x' })[kind ?? 'string'] ?? {}
  const all = (part: Schema | undefined) =>
    Object.fromEntries(Object.entries(part?.properties ?? {}).map(([name, one]) => [name, empty(one.type)]))
  const value = {
    ...all(schema),
    networking: all(of('networking')),
    proxy: all(of('proxy')),
    capabilities: all(of('capabilities')),
    controlPlane: all(of('controlPlane')),
    compute: [all(of('compute', '[]'))],
    imageDigestSources: [all(of('imageDigestSources', '[]'))],
    imageContentSources: [all(of('imageContentSources', '[]'))],
    platform: Object.fromEntries(
      ['aws', 'baremetal', 'vsphere', 'nutanix', 'none'].map((name) => [name, all(of('platform', name))]),
    ),
  }
  const findings = checkInstallConfig({ file: 'all.json', text: JSON.stringify(value) }, '4.22.0')
  const unknown = findings.filter(({ id, summary }) => id.endsWith('unknown-field') || /is wanted here/.test(summary))
  assert.deepEqual(
    unknown.filter(({ id }) => id !== 'install-config.network'),
    [],
  )
})
