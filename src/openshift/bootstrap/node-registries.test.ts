import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ignitionConfig } from '../../../testkit/ignition-config.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { type BootstrapConfig, readBootstrap } from './bootstrap-config.ts'
import { compareRegistries } from './compare-registries.ts'
import { nodeRegistries } from './node-registries.ts'

const ocp = 'quay.io/openshift-release-dev/ocp-release'
const art = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev'
const script = `#!/bin/bash\nRELEASE_IMAGE=${ocp}@sha256:${'5'.repeat(64)}\n`

interface Given {
  readonly minor?: string
  /** `SOURCE = MIRROR MIRROR`, as the installer renders them. */
  readonly host?: readonly string[]
  /** Documents, a file each. */
  readonly manifests?: readonly string[]
}

function bootstrapOf({ minor = '4.18', host = [], manifests = [] }: Given): BootstrapConfig {
  const entries = host.map((line) => {
    const [source = '', mirrors = ''] = line.split(' = ')
    const lines = mirrors.split(' ').map((mirror) => `[[registry.mirror]]\nlocation = "${mirror}"\ninsecure = false\n`)
    return `[[registry]]\nlocation = "${source}"\ninsecure = false\nmirror-by-digest-only = true\n${lines.join('')}`
  })
  const version = `kind: ClusterVersion\nmetadata:\n  name: version\nspec:\n  channel: stable-${minor}\n`
  const files = manifests.map((text, index) => [`/opt/openshift/manifests/${index}.yaml`, text] as const)
  return readBootstrap(
    ignitionConfig({
      '/usr/local/bin/release-image-download.sh': script,
      '/etc/containers/registries.conf': entries.join('\n'),
      '/opt/openshift/manifests/cvo-overrides.yaml': version,
      ...Object.fromEntries(files),
    }),
    { fileName: 'bootstrap.ign' },
  )
}

function idms(entries: readonly string[], kind = 'ImageDigestMirrorSet', list = 'imageDigestMirrors'): string {
  const items = entries.map((line) => {
    const [source, mirrors = '', policy] = line.split(' = ')
    return `  - source: ${source}\n    mirrors: [${mirrors.split(' ').join(', ')}]\n${policy ? `    mirrorSourcePolicy: ${policy}\n` : ''}`
  })
  return `apiVersion: config.openshift.io/v1\nkind: ${kind}\nmetadata:\n  name: m\nspec:\n  ${list}:\n${items.join('')}`
}

const icsp = (entries: readonly string[]) => idms(entries, 'ImageContentSourcePolicy', 'repositoryDigestMirrors')
const itms = (entries: readonly string[]) => idms(entries, 'ImageTagMirrorSet', 'imageTagMirrors')

function differences(given: Given): readonly string[] {
  const bootstrap = bootstrapOf(given)
  return compareRegistries(bootstrap, nodeRegistries(bootstrap)).map(({ source, by, kind, finding }) => {
    return `${finding.severity} ${kind} ${source} by ${by}`
  })
}

test('the same mirrors on both sides are no difference, whichever kind of set says them', () => {
  const host = [`${ocp} = m.lab:8443/release`, `${art} = m.lab:8443/components`]
  assert.deepEqual(differences({ host, manifests: [idms(host)] }), [])
  assert.deepEqual(differences({ host, manifests: [icsp(host)] }), [])
  assert.deepEqual(differences({ host, manifests: [icsp(host)], minor: '4.12' }), [])
  const wider = ['quay.io/openshift-release-dev = m.lab:8443/x']
  const narrow = [`${ocp} = m.lab:8443/x/ocp-release`, `${art} = m.lab:8443/x/ocp-v4.0-art-dev`]
  assert.deepEqual(differences({ host: [...wider, ...narrow], manifests: [idms(wider)] }), [])
})

test('what only one side knows is told, and weighs more where it is the release', () => {
  const host = [`${ocp} = m.lab/release`]
  assert.deepEqual(differences({ host }), [`error only-bootstrap ${ocp} by digest`])
  assert.deepEqual(differences({ manifests: [idms(host)] }), [`error only-nodes ${ocp} by digest`])
  const operators = ['registry.redhat.io = m.lab/operators']
  assert.deepEqual(differences({ manifests: [idms(operators)] }), ['info only-nodes registry.redhat.io by digest'])
  assert.deepEqual(differences({ manifests: [itms(operators)] }), ['info only-nodes registry.redhat.io by tag'])
})

test('other mirrors, another order, blocked sources and insecure mirrors are told apart', () => {
  const host = [`${ocp} = a.lab/x b.lab/x`]
  assert.deepEqual(differences({ host, manifests: [idms([`${ocp} = a.lab/x`])] }), [`warning mirrors ${ocp} by digest`])
  assert.deepEqual(differences({ host, manifests: [idms([`${ocp} = b.lab/x a.lab/x`])] }), [
    `info order ${ocp} by digest`,
  ])
  const never = idms([`${ocp} = a.lab/x b.lab/x = NeverContactSource`])
  assert.deepEqual(differences({ host, manifests: [never] }), [
    `warning blocked ${ocp} by digest`,
    `warning blocked ${ocp} by tag`,
  ])
  const image =
    'apiVersion: config.openshift.io/v1\nkind: Image\nmetadata:\n  name: cluster\nspec:\n  registrySources:\n    insecureRegistries: [a.lab]\n'
  assert.deepEqual(differences({ host, manifests: [idms(host), image] }), [
    'warning insecure a.lab by digest',
    'warning insecure a.lab by tag',
    `warning insecure ${ocp} by digest`,
  ])
})

test('what the operator refuses is a finding at the manifest that it is in, and there is no configuration', () => {
  const bad = idms(['https://quay.io = m.lab'])
  const { conf, findings } = nodeRegistries(bootstrapOf({ manifests: [idms([`${ocp} = m.lab`]), bad] }))
  assert.equal(conf, undefined)
  assert.deepEqual(
    findings.map(({ id, severity, where }) => [id, severity, where]),
    [['registries.refused-by-operator', 'error', { file: '/opt/openshift/manifests/1.yaml', line: 1 }]],
  )
  assert.match(findings[0]?.summary ?? '', /invalid format for source "https:\/\/quay\.io"/)
})

test('nodes of 4.12 get one switch a registry, and know no digest mirror sets', () => {
  const entry = [`${ocp} = m.lab/release`]
  const { conf, findings } = nodeRegistries(
    bootstrapOf({ minor: '4.12', manifests: [icsp(entry), idms([`${art} = m.lab`])] }),
  )
  assert.deepEqual(
    conf?.registries.map(({ prefix, mirrorByDigestOnly, mirrors }) => [prefix, mirrorByDigestOnly, mirrors]),
    [[ocp, true, [{ location: 'm.lab/release', insecure: false }]]],
  )
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['registries.manifest-unknown-to-nodes'],
  )
})

test('a manifest that is no YAML is told, and one of openshift/ stands in for its namesake of manifests/', () => {
  const files = {
    '/opt/openshift/manifests/a.yaml': idms([`${ocp} = wrong.lab`]),
    '/opt/openshift/openshift/a.yaml': idms([`${ocp} = right.lab`]),
    '/opt/openshift/openshift/b.yaml': 'kind: ImageTagMirrorSet\nmetadata:\n  name: x\nspec: [\n',
    '/usr/local/bin/bootstrap-service-record.sh': '#!/bin/bash\n',
  }
  const { conf, findings } = nodeRegistries(readBootstrap(ignitionConfig(files), { fileName: 'b.ign' }))
  assert.deepEqual(
    conf?.registries.map(({ mirrors }) => mirrors.map(({ location }) => location)),
    [['right.lab']],
  )
  assert.deepEqual(
    findings.map(({ id, where }) => [id, where?.file]),
    [['registries.manifest-broken', '/opt/openshift/openshift/b.yaml']],
  )
})

const real = '../shared/data/installer/ign/jds2001-ocp42-disconnected-spec2.2-bootstrap.ign'

test('a real disconnected config of 4.2 gives bootstrap host and nodes the same mirrors', (t) => {
  if (!existsSync(real)) return t.skip(`${real} is not here`)
  const { config } = readIgnitionConfig(readFileSync(real, 'utf8'), real)
  const bootstrap = readBootstrap(config, { fileName: real })
  const nodes = nodeRegistries(bootstrap)
  assert.equal(nodes.conf?.registries.length, 2)
  assert.deepEqual([nodes.findings, compareRegistries(bootstrap, nodes)], [[], []])
})
