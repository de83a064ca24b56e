import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkConfiguration } from './check-configuration.ts'
import { InvalidConfiguration } from './invalid-config.ts'
import { loadSite } from './site-configuration.ts'

const minimal = `kind: Site
name: c1
baseDomain: lab.example.com
variant: disconnected
platform:
  none:
release:
  version: 4.18.9
mirror:
  registry: mirror.lab.example.com:8443/ocp4
cluster: {}
`

/** Every finding of a text, as an editor would show it. */
function complaints(text: string): readonly string[] {
  try {
    return loadSite({ file: 's.yaml', text }).findings.map(line)
  } catch (error) {
    assert.ok(error instanceof InvalidConfiguration, String(error))
    return error.findings.map(line)
  }
}

function line({ summary, where, severity }: InvalidConfiguration['findings'][number]): string {
  return `${severity === 'error' ? '' : `${severity} `}${where?.line}:${where?.column} ${summary}`
}

const replaced = (from: string, to: string) => {
  assert.ok(minimal.includes(from), from)
  return minimal.replace(from, to)
}

test('the smallest site loads, with the defaults of the installer', () => {
  const { site, findings } = loadSite({ file: 's.yaml', text: minimal })
  assert.deepEqual(findings, [])
  assert.deepEqual(site, {
    apiVersion: 'sallyport/v1alpha1',
    kind: 'Site',
    name: 'c1',
    baseDomain: 'lab.example.com',
    variant: 'disconnected',
    platform: { none: {} },
    release: { version: '4.18.9', architecture: 'amd64' },
    mirror: {
      registry: 'mirror.lab.example.com:8443/ocp4',
      service: 'embedded',
      imageSet: 'imageset-config.yaml',
    },
    cluster: {
      controlPlaneReplicas: 3,
      computeReplicas: 2,
      networking: {
        machineNetwork: [{ cidr: '10.0.0.0/16' }],
        clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
        serviceNetwork: ['172.30.0.0/16'],
      },
      fips: false,
    },
    secrets: {},
    stages: {},
    teardown: 'ask',
  })
})

test('a channel also has versions of the minors before its own', () => {
  for (const channel of ['eus-4.20', 'stable-4.18']) {
    assert.deepEqual(complaints(replaced('4.18.9\n', `4.18.9\n  channel: ${channel}\n`)), [])
  }
})

const wrong: Readonly<Record<string, readonly [from: string, to: string, ...expected: string[]]>> = {
  'an unknown field, with the nearest name': [
    'baseDomain:',
    'basedomian:',
    '3:1 basedomian: there is no field "basedomian" here; did you mean "baseDomain"?',
  ],
  'a name that is no DNS name': [
    'name: c1',
    'name: My_Cluster',
    '2:7 name: "My_Cluster" is no DNS name: lower-case letters, digits and - are, the first and the last no -',
  ],
  'a name that is longer than the installer takes': [
    'name: c1',
    `name: ${'a'.repeat(55)}`,
    `2:7 name: "${'a'.repeat(55)}" is 55 characters long, and the installer takes 54`,
  ],
  'a domain that is none': [
    'lab.example.com\nvariant',
    'Lab_.com\nvariant',
    '3:13 baseDomain: "Lab_.com" is no DNS domain; write lower-case names with . between them, for example lab.example.com',
  ],
  'no platform': [
    '  none:\n',
    '  {}\n',
    '5:1 platform: name one of lab, aws, vsphere, nutanix, baremetal, none, for example none: {}',
  ],
  'two platforms': [
    '  none:\n',
    '  lab: {}\n  none: {}\n',
    '7:3 platform.none: lab stands here already, and a cluster has one platform; keep one of the two',
  ],
  'a variant without what it needs': [
    'variant: disconnected',
    'variant: proxy-only',
    '4:10 variant: variant proxy-only needs the section proxy, and it is missing: nodes reach out through it',
    '9:1 mirror: variant proxy-only has no mirror; take this section out, or write variant: disconnected (no way out) or private (both)',
  ],
  'no release': [
    '  version: 4.18.9\n',
    '  architecture: arm64\n',
    '7:1 release: say which release: version (4.18.9), channel (stable-4.18: its newest), or image',
  ],
  'a release that is named twice': [
    '  version: 4.18.9\n',
    '  version: 4.18.9\n  image: quay.io/a/b@sha256:00\n',
    '8:12 release.version: image says which release it is, so version cannot; keep one',
  ],
  'a channel that ended before the version': [
    '  version: 4.18.9\n',
    '  version: 4.18.9\n  channel: stable-4.17\n',
    '9:12 release.channel: stable-4.17 has no version 4.18.9: it ends with 4.17; write stable-4.18',
  ],
  'a mirror that only this machine knows': [
    'mirror.lab.example.com:8443/ocp4',
    'localhost:5000/ocp4',
    '10:13 mirror.registry: localhost is, on each node, the node itself; write the name or address that nodes reach the mirror by',
  ],
  'a mirror with a scheme': [
    'mirror.lab.example.com:8443/ocp4',
    'https://mirror:5000',
    '10:13 mirror.registry: "https://mirror:5000" is no place at a registry; write host:port/path, without docker:// and without tag, for example mirror.example.com:8443/ocp4',
  ],
  'a mirror at a port that there is not': [
    'mirror.lab.example.com:8443/ocp4',
    'mirror.lab.example.com:65536/ocp4',
    '10:13 mirror.registry: "mirror.lab.example.com:65536/ocp4" is no place at a registry; write host:port/path, without docker:// and without tag, for example mirror.example.com:8443/ocp4',
  ],
  'an address instead of a network': [
    'cluster: {}',
    'cluster:\n  networking:\n    machineNetwork:\n    - cidr: 10.0.1.5/16',
    '14:13 cluster.networking.machineNetwork[0].cidr: "10.0.1.5/16" is the address of a host in that network, and the installer refuses it; write 10.0.0.0/16',
  ],
  'networks that overlap': [
    'cluster: {}',
    'cluster:\n  networking:\n    serviceNetwork: [10.128.0.0/16, 100.64.0.0/24]',
    '13:22 cluster.networking.serviceNetwork[0]: 10.128.0.0/16 overlaps with the cluster network 10.128.0.0/14; choose networks that have no address in common',
    '13:37 cluster.networking.serviceNetwork[1]: 100.64.0.0/24 overlaps with the join network of OVN-Kubernetes, 100.64.0.0/16; choose networks that have no address in common',
  ],
  'a duration without a unit': [
    'cluster: {}',
    'cluster: {}\nstages:\n  install: {timeout: 90}',
    '13:22 stages.install.timeout: 90 has no unit; write 90m for minutes or 90s for seconds',
  ],
  'a stage that there is not': [
    'cluster: {}',
    'cluster: {}\nstages:\n  instal: {skip: done by hand}',
    '13:3 stages.instal: there is no field "instal" here; did you mean "install"?',
  ],
  'a secret that nobody declared': [
    'ocp4\n',
    'ocp4\n  credentials: mirorAuth\nsecrets:\n  mirrorAuth: {file: auth.json}\n',
    '11:16 mirror.credentials: secrets has no entry of this name; did you mean mirrorAuth?',
  ],
  'a secret from two places': [
    'cluster: {}',
    'cluster: {}\nsecrets:\n  a: {file: x, env: Y}',
    '13:3 secrets.a: write either file or env',
  ],
  'a key where its file should be named': [
    'cluster: {}',
    'cluster:\n  sshPublicKey: ssh-ed25519 AAAA me',
    '12:17 cluster.sshPublicKey: the name of a file is wanted here, and this is what would stand in it; put it into a file, and write its name here',
  ],
  'an unknown field of a secret': [
    'cluster: {}',
    'cluster: {}\nsecrets:\n  a:\n    fille: {}',
    '13:3 secrets.a: write either file or env',
    '14:5 secrets.a.fille: there is no field "fille" here; did you mean "file"?',
  ],
}

for (const [what, [from, to, ...expected]] of Object.entries(wrong)) {
  test(`told at its place: ${what}`, () => assert.deepEqual(complaints(replaced(from, to)), expected))
}

test('a secret in the file is told by its place, and never repeated', () => {
  const texts = [
    replaced('ocp4\n', 'ocp4\n  password: hunter2hunter2\n'),
    replaced('ocp4\n', 'ocp4\n  credentials: admin:hunter2hunter2\n'),
    replaced('4.18.9\n', `4.18.9\n  pullSecret: '{"auths":{"quay.io":{"auth":"hunter2hunter2"}}}'\n`),
    replaced('4.18.9\n', '4.18.9\npullSecret:\n  auths:\n    quay.io:\n      auth: hunter2hunter2\n'),
    replaced('cluster: {}', 'cluster: {}\nproxy:\n  url: http://admin:hunter2hunter2@proxy:3128'),
    replaced('cluster: {}', 'cluster: {}\nsecrets:\n  proxy: hunter2hunter2'),
    replaced('cluster: {}', 'cluster: {}\nsecrets:\n  proxy: {value: hunter2hunter2}'),
    replaced('cluster: {}', 'cluster: {}\nsecrets:\n  proxy: {env: hunter2-hunter2}').replaceAll(
      'hunter2-',
      'hunter2-x',
    ),
    replaced('cluster: {}', 'cluster:\n  sshPublicKey: |\n    -----BEGIN OPENSSH PRIVATE KEY-----\n    hunter2hunter2'),
  ]
  for (const text of texts) {
    const told = complaints(text)
    assert.equal(told.length, 1, told.join('\n'))
    assert.match(told[0] ?? '', /^\d+:\d+ [\w.]+: .*(?:secret|environment variable)/)
    assert.doesNotMatch(told.join('\n'), /hunter2/)
  }
})

test('a file that is no YAML is told without the secrets in it', () => {
  const told = complaints(
    replaced('4.18.9\n', `4.18.9\n  pullSecret: "{"auths":{"quay.io":{"auth":"hunter2hunter2"}}}"\n`),
  )
  assert.match(told.join('\n'), /not YAML/)
  assert.doesNotMatch(told.join('\n'), /hunter2/)
})

test('a site is known without its kind, and the kind is asked for', () => {
  const findings = checkConfiguration({ file: 's.yaml', text: minimal.replace('kind: Site\n', '') })
  assert.deepEqual(findings.map(line), ['1:1 kind must be Site, and it is missing'])
})

test('what has no effect is said as a warning', () => {
  const text = replaced('variant: disconnected', 'variant: registry-only').replace('Domain:', 'domain:')
  assert.deepEqual(complaints(text), [
    'warning 3:1 basedomain: read as "baseDomain"; write it so',
    'warning 11:1 cluster: variant registry-only installs no cluster, so this section has no effect',
  ])
})
