import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import type { IgnitionConfig } from '../ignition/config.ts'
import { inlineFile } from '../ignition/contents.ts'
import { applyChanges } from '../ignition/patch/apply-changes.ts'
import type { IgnitionPatch, PatchChanges } from '../ignition/patch/patch.ts'
import { workOutPatch } from '../ignition/patch/patch-changes.ts'
import { judgeForNodes, renderMachineConfigs } from './machine-config.ts'

const roles = ['master', 'worker']

function changesOf(patch: Omit<IgnitionPatch, 'name'>): PatchChanges {
  return workOutPatch({ name: 'lab', ...patch }, new Date()).changes
}

function specOf(yaml: string): { readonly config: IgnitionConfig; readonly kernelArguments?: readonly string[] } {
  return parse(yaml).spec
}

/** Path by path: contents and mode. */
function filesOf(config: IgnitionConfig): Map<string, readonly [string, number]> {
  const files = config.storage?.files ?? []
  return new Map(
    files.map((file) => [file.path, [Buffer.from(inlineFile(file) ?? []).toString('base64'), file.mode ?? 0o644]]),
  )
}

test('files, units and drop-ins of bootstrap host and nodes are the same, path by path', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const text = fc.string({ unit: 'grapheme' })
  const patches = fc.record({
    hosts: fc.constantFrom([], [{ name: 'mirror.lab', address: '192.0.2.10' }]),
    chrony: fc.constant({ servers: ['ntp.lab'] }),
    registries: fc.uniqueArray(fc.record({ fileName: name, text }), { selector: (one) => one.fileName }),
    files: fc.uniqueArray(
      fc.record({
        path: name.map((one) => `/etc/${one}`),
        contents: fc.uint8Array(),
        mode: fc.constantFrom(0o600, 0o755),
      }),
      { selector: ({ path }) => path },
    ),
    units: fc.uniqueArray(fc.record({ name, contents: text, enabled: fc.boolean() }), { selector: (one) => one.name }),
    dropins: fc.uniqueArray(fc.record({ unit: name, name, contents: text }), {
      selector: (one) => `${one.unit}/${one.name}`,
    }),
  })
  // The bootstrap config has other contents at some of the paths.
  const before = JSON.stringify({
    ignition: { version: '3.2.0' },
    storage: { files: [{ path: '/etc/a', mode: 0o600, contents: { source: 'data:,old' } }, { path: '/etc/other' }] },
    systemd: { units: [{ name: 'b', contents: 'old', enabled: true }] },
  })
  fc.assert(
    fc.property(patches, (patch) => {
      const changes = changesOf(patch)
      const bootstrap = JSON.parse(applyChanges(before, 'a.ign', changes).text) as IgnitionConfig
      const written = renderMachineConfigs(changes, { name: 'lab', roles })
      assert.equal(written.length, 2)
      for (const { yaml } of written) {
        const { config } = specOf(yaml)
        const onBootstrap = filesOf(bootstrap)
        const touched = [...changes.files].map(({ path }) => [path, onBootstrap.get(path)] as const)
        assert.deepEqual(filesOf(config), new Map(touched))
        for (const unit of config.systemd?.units ?? []) {
          const same = bootstrap.systemd?.units?.find((one) => one.name === unit.name)
          assert.deepEqual({ ...same, ...unit }, same)
        }
      }
    }),
  )
})

test('a MachineConfig is for its role, sorts behind those of the cluster, and is the same every time', () => {
  const changes = changesOf({ chrony: { servers: ['ntp.lab'] } })
  const [first, second] = renderMachineConfigs(changes, { name: 'lab', roles })
  assert.equal(first?.fileName, '99-master-sallyport-lab.yaml')
  const { apiVersion, kind, metadata } = parse(second?.yaml ?? '')
  assert.deepEqual(
    { apiVersion, kind, metadata },
    {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      metadata: {
        labels: { 'machineconfiguration.openshift.io/role': 'worker' },
        name: '99-worker-sallyport-lab',
      },
    },
  )
  assert.deepEqual(renderMachineConfigs(changes, { name: 'lab', roles }), [first, second])
  assert.equal(specOf(first?.yaml ?? '').config.ignition.version, '3.2.0')
})

test('kernel arguments are a field of the MachineConfig, and taking one away is told to be impossible', () => {
  const changes = changesOf({ kernelArguments: { shouldExist: ['fips=1', 'audit=1'], shouldNotExist: ['quiet'] } })
  const [file] = renderMachineConfigs(changes, { name: 'lab', roles })
  const spec = specOf(file?.yaml ?? '')
  assert.deepEqual(spec.kernelArguments, ['fips=1', 'audit=1'])
  assert.equal(spec.config.kernelArguments, undefined)
  assert.deepEqual(
    judgeForNodes(changes).map(({ id }) => id),
    ['machine-config.kernel-arguments-removed'],
  )
})

test('proxies are not for nodes, and what is better said in another way is told', () => {
  const changes = changesOf({
    trust: [{ name: 'a', pem: 'a' }],
    hosts: [{ name: 'a.lab', address: '192.0.2.1' }],
    registries: [{ fileName: 'a.conf', text: '' }],
    proxy: { httpProxy: 'http://proxy.lab:3128' },
  })
  const [file] = renderMachineConfigs(changes, { name: 'lab', roles })
  assert.doesNotMatch(file?.yaml ?? '', /proxy\.sh|default-env/)
  assert.deepEqual(
    judgeForNodes(changes).map(({ id }) => id),
    ['machine-config.trust', 'machine-config.hosts', 'machine-config.registries', 'machine-config.proxy'],
  )
  assert.deepEqual(renderMachineConfigs(changesOf({ proxy: { httpProxy: 'http://a' } }), { name: 'lab', roles }), [])
})
