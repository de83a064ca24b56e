import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { smallWorkflow } from '../../../testkit/registry-run.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import type { ResolvedWorkflow } from '../step-registry/model.ts'
import { preflight } from './preflight.ts'
import type { RegistryRunOptions } from './run-options.ts'

async function found(resolved: ResolvedWorkflow, options: Partial<RegistryRunOptions> = {}): Promise<string[]> {
  const findings = await preflight(resolved, { path: '/nowhere', ...options })
  return findings.map(({ id, severity, summary }) => `${severity} ${id}: ${summary}`)
}

test('a workflow that has all that it needs has no findings', async (t) => {
  assert.deepEqual(await found(await smallWorkflow(t, { test: { 'try-it': ':' } })), [])
})

test('a parameter that nobody gives is named with its step', async (t) => {
  const spec = { script: ':', env: [{ name: 'ZONES' }] }
  const [only, ...more] = await found(await smallWorkflow(t, { test: { 'try-it': spec } }))
  assert.match(only ?? '', /^error run.parameter-absent: try-it: unresolved parameter ZONES/)
  assert.deepEqual(more, [])
})

test('an image that steps depend on is asked for once, and given by its variable or its name', async (t) => {
  const dependencies = [{ name: 'release:latest', env: 'RELEASE' }]
  const resolved = await smallWorkflow(t, {
    pre: { 'use-it': { script: ':', dependencies } },
    test: { 'use-again': { script: ':', dependencies } },
  })
  const findings = await found(resolved)
  assert.equal(findings.length, 1)
  assert.match(findings[0] ?? '', /release:latest, which use-it \(and 1 more\) wants in RELEASE/)
  assert.deepEqual(await found(resolved, { dependencies: { RELEASE: 'a@b' } }), [])
  assert.deepEqual(await found(resolved, { dependencies: { 'release:latest': 'a@b' } }), [])
  assert.deepEqual(await found(resolved, { releaseImages: { latest: 'a@b' } }), [])
})

test('a variable of ci-operator that a script uses, and nobody gives, is told of', async (t) => {
  const resolved = await smallWorkflow(t, {
    pre: { 'use-it': `cat "\${CLUSTER_PROFILE_DIR}/pull-secret"; echo $LEASED_RESOURCE` },
    test: { 'has-default': `echo "\${LEASED_RESOURCE:-none} $RELEASE_IMAGE_LATEST_FROM_BUILD_FARM"` },
  })
  const findings = await found(resolved)
  assert.deepEqual(findings, [
    'warning run.variable-absent: use-it uses $CLUSTER_PROFILE_DIR, which nobody gives',
    'warning run.variable-absent: use-it uses $LEASED_RESOURCE, which nobody gives',
  ])
  const clusterProfileDir = await tempDir(t)
  assert.deepEqual(await found(resolved, { clusterProfileDir, leases: { LEASED_RESOURCE: 'us-east-2' } }), [])
})

test('a cluster profile that is given and not there is told, whether the workflow names one or not', async (t) => {
  const resolved = await smallWorkflow(t, { pre: { 'use-it': ':' } })
  const clusterProfileDir = join(await tempDir(t), 'nowhere')
  assert.deepEqual(await found(resolved, { clusterProfileDir }), [
    `error run.cluster-profile-absent: ${clusterProfileDir} cannot be read`,
  ])
})

test('what to type for a credential is not taken for a secret', async (t) => {
  const credentials = [{ namespace: 'here', name: 'a-token', mount_path: '/nowhere/at/all' }]
  const resolved = await smallWorkflow(t, { pre: { 'use-it': { script: ':', credentials } } })
  const [finding] = await preflight(resolved, { path: '/nowhere' })
  assert.match(finding?.remedy ?? '', /--credential NAME=DIR\)/)
})

test('as many leases are asked for as steps declare', async (t) => {
  const leases = [{ resource_type: 'host', env: 'HOSTS', count: 2 }]
  const resolved = await smallWorkflow(t, { test: { 'use-it': { script: ':', leases } } })
  assert.match((await found(resolved))[0] ?? '', /2 of host is to be leased for HOSTS, and nobody gives one/)
  assert.match((await found(resolved, { leases: { HOSTS: 'a' } }))[0] ?? '', /1 is given/)
  assert.deepEqual(await found(resolved, { leases: { HOSTS: 'a b' } }), [])
})

test('a credential has to be where the step looks for it, or given to a container', async (t) => {
  const there = await tempDir(t)
  await mkdir(join(there, 'files'))
  const spec = (path: string) => ({ script: ':', credentials: [{ namespace: 'ns', name: 'vault', mount_path: path }] })
  const absent = await smallWorkflow(t, { test: { 'use-it': spec('/nowhere/secret') } })
  assert.match((await found(absent))[0] ?? '', /^error run.credential-absent: use-it wants the credential ns\/vault/)
  assert.match((await found(absent, { allowMissingCredentials: true }))[0] ?? '', /^warning/)
  assert.deepEqual(await found(await smallWorkflow(t, { test: { 'use-it': spec(join(there, 'files')) } })), [])
  const container = { program: '/bin/sh', env: {}, images: {}, image: 'tools' }
  assert.match((await found(absent, { container }))[0] ?? '', /run.credential-absent/)
  assert.deepEqual(await found(absent, { container, credentials: { vault: there } }), [])
  assert.deepEqual(await found(absent, { container, credentials: { 'ns/vault': there } }), [])
})

test('a cluster profile needs its files, and a type', async (t) => {
  const resolved = await smallWorkflow(t, { test: { 'use-it': ':' }, settings: { cluster_profile: 'aws' } })
  const ids = (await preflight(resolved, { path: '' })).map(({ id }) => id)
  assert.deepEqual(ids, ['run.cluster-profile-absent', 'run.cluster-type-absent'])
  const directory = await tempDir(t)
  assert.deepEqual(await found(resolved, { clusterProfileDir: directory, clusterType: 'aws' }), [])
})

test('in containers every image has to be known, and without them oc has to be there for steps that say cli', async (t) => {
  const resolved = await smallWorkflow(t, { test: { 'use-it': { script: ':', cli: 'latest' } } })
  assert.match((await found(resolved))[0] ?? '', /run.program-absent: oc is not there/)
  const bin = await tempDir(t)
  await writeFile(join(bin, 'oc'), '#!/bin/sh\n', { mode: 0o755 })
  assert.deepEqual(await found(resolved, { cliDir: bin }), [])
  assert.deepEqual(await found(resolved, { path: bin }), [])
  const container = { program: 'sh', env: { PATH: '/bin' }, images: {} }
  assert.match((await found(resolved, { container }))[0] ?? '', /run.image-absent: Nobody says which image cli is/)
  assert.deepEqual(await found(resolved, { container: { ...container, images: { cli: 'tools' } } }), [])
  const absent = { ...container, program: 'podman-that-is-not', image: 'tools' }
  assert.match((await found(resolved, { container: absent }))[0] ?? '', /podman-that-is-not is not there/)
})

test('a duration that is none is found before anything runs', async (t) => {
  const resolved = await smallWorkflow(t, { test: { 'use-it': ':' } })
  const [step] = resolved.test
  assert.ok(step)
  for (const timeout of ['soon', 600]) {
    const broken = { ...resolved, test: [{ ...step, literal: { ...step.literal, timeout } }] }
    assert.match((await found(broken))[0] ?? '', /run.duration-invalid: use-it: timeout is (?:soon|600)/)
  }
})
