/**
 * From a channel to a cluster that can be updated: update service, signature store and registry outside, each behaving as
 * the real one does; path, plan, mirror, signatures and verification by the command line.
 */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { type Digest, hexOf } from '../../src/oci/digest.ts'
import { loadKeys } from '../../src/trust/openpgp-keys.ts'
import { verifyRelease } from '../../src/trust/verify-release.ts'
import { cachedContent, writeOcMirrorArchive } from '../../testkit/oc-mirror-archive.ts'
import { signRelease } from '../../testkit/release-signing.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { type ScriptedRegistry, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { startUpdateSite, type UpdateSite, type UpdateSiteOptions } from '../../testkit/update-site.ts'

const stable17 = ['stable-4.17', 'stable-4.18']
const stable18 = ['stable-4.18']

/** 4.18.1 is reached at a risk, and 4.18.4 by a way around it. */
const site: UpdateSiteOptions = {
  releases: {
    '4.17.3': stable17,
    '4.17.9': stable17,
    '4.18.1': stable18,
    '4.18.2': stable18,
    '4.18.4': stable18,
  },
  updates: [
    ['4.17.3', '4.17.9'],
    ['4.17.3', '4.18.1', 'SlowDisks'],
    ['4.17.9', '4.18.2'],
    ['4.18.1', '4.18.4'],
    ['4.18.2', '4.18.4'],
  ],
}

interface Scene {
  readonly outside: UpdateSite
  readonly target: ScriptedRegistry
  readonly root: string
  readonly destination: string
  readonly configure: (platform: object, more?: object) => Promise<string>
  /** On the connected side. */
  readonly run: (...args: readonly string[]) => Promise<CliResult>
}

async function scene(t: TestContext, options: UpdateSiteOptions = site): Promise<Scene> {
  const outside = await startUpdateSite(t, options)
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const root = await tempDir(t)
  const configure = async (platform: object, more: object = {}) => {
    const path = join(root, 'isc.yaml')
    const head = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
    await writeFile(path, JSON.stringify({ ...head, mirror: { platform, ...more } }))
    return path
  }
  const open = ['--registries-conf', outside.registriesConf, '--dest-tls-verify=false', '--retry-delay', '10ms']
  const run = (...args: readonly string[]) => runCli([...args, ...open], { env: outside.env, cwd: root })
  return { outside, target, root, destination: `docker://${target.address}/ocp`, configure, run }
}

const path = { name: 'stable-4.18', minVersion: '4.17.3', maxVersion: '4.18.4', shortestPath: true }
const pathTags = ['4.17.3-x86_64', '4.17.9-x86_64', '4.18.2-x86_64', '4.18.4-x86_64']

function releaseTags({ content }: ScriptedRegistry): string[] {
  const prefix = 'ocp/openshift/release-images:'
  const names = [...content.tags.keys()].filter((name) => name.startsWith(prefix) && !name.endsWith('.sig'))
  return names.map((name) => name.slice(prefix.length)).sort()
}

function succeeded(result: CliResult): CliResult {
  assert.equal(result.status, 0, result.stderr + result.stdout)
  return result
}

/** The signatures in the ConfigMap of a workspace, each proven with the key of the site. */
async function signedDigests(workspace: string, { signer }: UpdateSite): Promise<string[]> {
  const text = await readFile(join(workspace, 'working-dir/cluster-resources/signature-configmap.yaml'), 'utf8')
  const { metadata, binaryData } = parse(text) as { metadata: object; binaryData: Record<string, string> }
  assert.deepEqual(metadata, {
    name: 'mirrored-release-signatures',
    namespace: 'openshift-config-managed',
    labels: { 'release.openshift.io/verification-signatures': '' },
  })
  const keys = await loadKeys([{ content: signer.publicKey, origin: 'the site' }])
  const digests = Object.keys(binaryData).map((key) => key.replace('-', ':').replace(/-\d+$/, '') as Digest)
  for (const [index, data] of Object.values(binaryData).entries()) {
    const digest = digests[index] as Digest
    const signature = { number: 1, bytes: Buffer.from(data, 'base64') }
    assert.equal((await verifyRelease(signature, { digest, keys, now: Date.now() })).claim.digest, digest)
  }
  return digests.sort()
}

function digestsOf({ releases }: UpdateSite, tags: readonly string[]): string[] {
  return releases
    .filter(({ tag }) => tags.includes(tag))
    .map(({ image }) => image.digest)
    .sort()
}

test('channel, path, plan, mirror, ConfigMap, verify: the releases of the safest path arrive, signed', async (t) => {
  const { outside, target, root, destination, configure, run } = await scene(t)
  const drawn = succeeded(await run('release', 'path', '--from', '4.17.3', '--to', '4.18.4'))
  assert.match(drawn.stdout, /4\.17\.3[\s\S]*4\.17\.9[\s\S]*4\.18\.2[\s\S]*4\.18\.4/)
  assert.doesNotMatch(drawn.stdout, /SlowDisks/)

  const config = await configure({ channels: [path], graph: true })
  const [plan, workspace] = [join(root, 'plan.json'), join(root, 'work')]
  const arguments_ = ['-c', config, '--workspace', workspace, '--sigstore-key', outside.sigstoreKeyFile, destination]
  succeeded(await run('mirror', '--plan-only', plan, ...arguments_))
  assert.deepEqual(releaseTags(target), [])
  outside.graphs.requests.length = 0
  succeeded(await run('mirror', '--plan', plan, ...arguments_))
  assert.deepEqual(outside.graphs.requests, [], 'a plan needs no graph')
  assert.deepEqual(releaseTags(target), pathTags)
  assert.deepEqual(await signedDigests(workspace, outside), digestsOf(outside, pathTags))

  const again = succeeded(await run('mirror', ...arguments_))
  assert.match(again.stdout, /nothing to move|0 mirrored/)
  const verified = succeeded(await run('verify', 'mirror', '--workspace', workspace, '--deep', destination))
  assert.doesNotMatch(verified.stdout, /mirror\.release-unsigned/)
  succeeded(await run('verify', 'egress', '--workspace', workspace))
  const service = parse(
    await readFile(join(workspace, 'working-dir/cluster-resources/updateService.yaml'), 'utf8'),
  ) as { spec: object }
  assert.deepEqual(service.spec, {
    replicas: 2,
    releases: `${target.address}/ocp/openshift/release-images`,
    graphDataImage: `${target.address}/ocp/openshift/graph-image:latest`,
  })
  const mirrorSets = await readFile(join(workspace, 'working-dir/cluster-resources/idms-oc-mirror.yaml'), 'utf8')
  assert.doesNotMatch(mirrorSets, /graph-image|\.invalid/)
})

test('across the gap nothing outside is asked again: releases, graph image and signatures come out of the archive', async (t) => {
  const { outside, target, root, destination, configure, run } = await scene(t)
  const config = await configure({ channels: [path], graph: true })
  const disk = join(root, 'disk')
  const signed = ['--sigstore-key', outside.sigstoreKeyFile]
  succeeded(await run('mirror', '-c', config, ...signed, `file://${disk}`))
  await outside.close()
  const closed = join(root, 'closed')
  const inside = ['--workspace', closed, '--dest-tls-verify=false']
  const env = { OCP_SIGNATURE_VERIFICATION_PK: outside.env['OCP_SIGNATURE_VERIFICATION_PK'] ?? '' }
  const load = (...more: readonly string[]) =>
    runCli(['mirror', '--from', disk, ...inside, ...more, destination], { env })

  // By a configuration of this side: a part of what the archive has, chosen from the same graph.
  const part = join(root, 'part.yaml')
  await writeFile(part, (await readFile(config, 'utf8')).replace('4.17.3', '4.18.2'))
  succeeded(await load('-c', part, ...signed))
  assert.deepEqual(releaseTags(target), ['4.18.2-x86_64', '4.18.4-x86_64'])
  succeeded(await load(...signed))
  assert.deepEqual(releaseTags(target), pathTags)
  assert.ok(target.content.tags.has('ocp/openshift/graph-image:latest'))
  assert.deepEqual(await signedDigests(closed, outside), digestsOf(outside, pathTags))
  succeeded(await runCli(['verify', 'mirror', '--deep', ...inside, destination]))
  const graphs = await readdir(join(closed, 'working-dir/hold-release/cincinnati-graph-data'))
  assert.ok(graphs.includes('amd64-stable-4.18.json'), graphs.join(' '))
})

test('a release that the archive does not carry is said to be in no archive, and what it carries arrives', async (t) => {
  const { outside, target, root, destination, configure, run } = await scene(t)
  const disk = join(root, 'disk')
  const part = { name: 'stable-4.18', minVersion: '4.18.1', maxVersion: '4.18.2' }
  succeeded(await run('mirror', '-c', await configure({ channels: [part] }), `file://${disk}`))
  const more = await configure({ channels: [{ ...part, maxVersion: '4.18.4' }] })
  const env = { OCP_SIGNATURE_VERIFICATION_PK: outside.env['OCP_SIGNATURE_VERIFICATION_PK'] ?? '' }
  const inside = ['--workspace', join(root, 'closed'), '--dest-tls-verify=false', destination]
  const loaded = await runCli(['mirror', '--from', disk, '-c', more, ...inside], { env })
  assert.equal(loaded.status, 2, loaded.stderr)
  assert.match(loaded.stdout, /ocp-release@sha256:\w+ is neither in the archive nor at the target/)
  assert.match(loaded.stdout, /have one made on the connected side/)
  assert.deepEqual(releaseTags(target), ['4.18.1-x86_64', '4.18.2-x86_64'])
})

test('an archive that oc-mirror made from a channel is loaded by its graph and its signatures, and a wrong one is refused', async (t) => {
  const { outside, target, root, destination, configure, run } = await scene(t)
  const config = await configure({ channels: [path] })
  succeeded(await run('mirror', '-c', config, '--dry-run', '--workspace', join(root, 'open'), destination))
  const kept = join(root, 'open/working-dir')
  const names = ['hold-release/cincinnati-graph-data', 'signatures'].map(async (directory) =>
    (await readdir(join(kept, directory))).map((name) => `${directory}/${name}`),
  )
  const files = await Promise.all(
    (await Promise.all(names)).flat().map(async (name) => [name, await readFile(join(kept, name))] as const),
  )
  assert.equal(files.filter(([name]) => name.startsWith('signatures/')).length, pathTags.length)
  const chosen = outside.releases.filter(({ tag }) => pathTags.includes(tag))
  const content = chosen.flatMap((release) => cachedContent({ release, additional: [], content: [] }))
  const configuration = await readFile(config, 'utf8')
  await outside.close()
  const load = async (workingDir: Record<string, Uint8Array>) => {
    const { directory } = await writeOcMirrorArchive(t, { content, configuration, workingDir })
    const env = { OCP_SIGNATURE_VERIFICATION_PK: outside.env['OCP_SIGNATURE_VERIFICATION_PK'] ?? '' }
    const args = ['--workspace', await tempDir(t), '--dest-tls-verify=false', destination]
    return runCli(['mirror', '--from', directory, ...args], { env })
  }
  const [wrong, other] = [chosen[0], chosen[1]].map((release) => release?.image.digest.replace(':', '-') ?? '')
  const signatureOf = (digest = '') => files.find(([name]) => name.includes(digest)) ?? ['', new Uint8Array()]
  const swapped = { ...Object.fromEntries(files), [signatureOf(wrong)[0]]: signatureOf(other)[1] }
  const refused = await load(swapped)
  assert.equal(refused.status, 2, refused.stderr)
  assert.match(refused.stdout, /is for another image/)
  assert.deepEqual(releaseTags(target), pathTags.slice(1))
  succeeded(await load(Object.fromEntries(files)))
  assert.deepEqual(releaseTags(target), pathTags)
})

test('the same channel into two workspaces gives the same archive, byte for byte', async (t) => {
  const { root, configure, run } = await scene(t)
  const config = await configure({ channels: [path], graph: true })
  const archives = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const directory = join(root, name)
      succeeded(await run('mirror', '-c', config, `file://${directory}`))
      const tars = (await readdir(directory)).filter((file) => file.endsWith('.tar'))
      return Promise.all(tars.map((file) => readFile(join(directory, file))))
    }),
  )
  assert.deepEqual(archives[0], archives[1])
})

test('a release whose signature is for another digest stays outside with all its components; others go on', async (t) => {
  const { outside, target, configure, run, destination, root } = await scene(t)
  const [bad, other] = outside.releases.filter(({ version }) => ['4.18.2', '4.18.4'].includes(version))
  assert.ok(bad && other)
  outside.signatures.fault({
    path: new RegExp(`${bad.image.digest.replace('sha256:', '')}/signature-1`),
    status: 200,
    body: await signRelease(outside.signer, { digest: other.image.digest }),
  })
  const config = await configure({ channels: [path] })
  const result = await run('mirror', '-c', config, '--workspace', join(root, 'work'), destination)
  assert.equal(result.status, 2)
  assert.match(result.stdout, /is for another image: it signs sha256:\w+, not sha256:\w+/)
  assert.deepEqual(releaseTags(target), ['4.17.3-x86_64', '4.17.9-x86_64', '4.18.4-x86_64'])
  assert.ok(![...target.content.tags.keys()].some((name) => name.includes('release:4.18.2')))
})

test('without a signature nothing moves, and --ignore-release-signature says what that means', async (t) => {
  const { outside, target, configure, run, destination, root } = await scene(t)
  outside.signatures.fault({ path: /signature-1/, times: 100, status: 404 })
  const config = await configure({ channels: [{ name: 'stable-4.18' }] })
  const args = ['mirror', '-c', config, '--workspace', join(root, 'work'), destination]
  const refused = await run(...args)
  assert.equal(refused.status, 2)
  assert.match(refused.stdout, /SIGNATURE_MISSING[\s\S]*has no release signature/)
  assert.deepEqual([...target.content.tags.keys()], [])
  const forced = succeeded(await run(...args, '--ignore-release-signature'))
  assert.match(forced.stderr, /is mirrored although no signature proves it/)
  const verified = succeeded(await run('verify', 'mirror', '--workspace', join(root, 'work'), destination))
  assert.match(verified.stdout, /^complete: [\s\S]*warning mirror\.release-unsigned: no signature of sha256:/)
  assert.deepEqual(releaseTags(target), ['4.18.4-x86_64'])
})

test('a sigstore signature by another key stops the release before a byte of it moves', async (t) => {
  const { outside, target, configure, run, destination, root } = await scene(t)
  const other = await startUpdateSite(t, { releases: { '4.18.1': stable18 }, updates: [] })
  const config = await configure({ channels: [{ name: 'stable-4.18' }] })
  const args = ['mirror', '-c', config, '--workspace', join(root, 'work'), destination]
  const refused = await run(...args, '--sigstore-key', other.sigstoreKeyFile)
  assert.equal(refused.status, 2)
  assert.match(refused.stdout, /SIGNATURE_INVALID/)
  assert.deepEqual([...target.content.tags.keys()], [])
  succeeded(await run(...args, '--sigstore-key', other.sigstoreKeyFile, '--sigstore-key', outside.sigstoreKeyFile))
})

test('several architectures and several channels: every release once, joined by a path', async (t) => {
  const { target, configure, run, destination, root } = await scene(t, { ...site, architectures: ['amd64', 'arm64'] })
  const config = await configure({
    channels: [{ name: 'stable-4.17', maxVersion: '4.17.3' }, { name: 'stable-4.18' }],
    architectures: ['amd64', 'arm64'],
  })
  const result = succeeded(await run('mirror', '-c', config, '--workspace', join(root, 'work'), destination))
  const versions = ['4.17.3', '4.17.9', '4.18.2', '4.18.4']
  assert.deepEqual(
    releaseTags(target),
    versions.flatMap((version) => [`${version}-aarch64`, `${version}-x86_64`]),
  )
  assert.doesNotMatch(result.stderr, /SlowDisks/)
})

test('an update service that is out of reach: what was learned before is used, and said; without it the class fails', async (t) => {
  const { outside, target, configure, run, destination, root } = await scene(t)
  const config = await configure({ channels: [{ name: 'stable-4.18' }] })
  const args = ['mirror', '-c', config, '--workspace', join(root, 'work'), '--retry-times', '0', destination]
  outside.graphs.fault({ path: /graph/, times: 1, status: 503 })
  const failed = await run(...args)
  assert.equal(failed.status, 2)
  assert.match(failed.stdout, /GRAPH_UNAVAILABLE[\s\S]*503/)
  succeeded(await run(...args))
  await outside.graphs.close()
  const stale = succeeded(await run(...args))
  assert.match(stale.stderr, /the update graph of stable-4\.18 \(amd64\) is the one kept/)
  assert.deepEqual(releaseTags(target), ['4.18.4-x86_64'])
})

test('what was mirrored by channel is deleted by channel, with nothing asked but the mirror', async (t) => {
  const { outside, target, configure, run, destination, root } = await scene(t)
  const config = await configure({ channels: [path], graph: true })
  const work = ['--workspace', join(root, 'work')]
  succeeded(await run('mirror', '-c', config, ...work, destination))
  await outside.close()
  const unwanted = join(root, 'disc.yaml')
  const platform = { channels: [{ ...path, maxVersion: '4.17.9' }], graph: true }
  const head = { kind: 'DeleteImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
  await writeFile(unwanted, JSON.stringify({ ...head, delete: { platform } }))
  const access = ['--dest-tls-verify=false', destination]
  succeeded(await runCli(['delete', '-c', unwanted, '--generate', ...work, ...access]))
  const list = join(root, 'work/working-dir/delete/delete-images.yaml')
  succeeded(await runCli(['delete', '--delete-yaml-file', list, ...work, ...access]))
  assert.deepEqual(releaseTags(target), ['4.18.2-x86_64', '4.18.4-x86_64'])
  assert.ok(!target.content.tags.has('ocp/openshift/graph-image:latest'))
  assert.ok([...target.content.tags.keys()].some((name) => name.startsWith('ocp/openshift/release:4.18.2')))
  assert.ok(![...target.content.tags.keys()].some((name) => name.startsWith('ocp/openshift/release:4.17')))
})

test('a release named by its digest is called as its signer calls it, on both sides of the gap, and deleted by that', async (t) => {
  const { outside, target, root, destination, configure, run } = await scene(t)
  const signed = outside.releases.find(({ version }) => version === '4.18.4')
  assert.ok(signed)
  const release = outside.payloadOf(signed)
  const config = await configure({ release })
  const [work, disk] = [join(root, 'work'), join(root, 'disk')]
  succeeded(await run('mirror', '-c', config, '--workspace', work, destination))
  const tags = [...target.content.tags.keys()]
  assert.deepEqual(releaseTags(target), ['4.18.4-x86_64'])
  assert.ok(tags.includes(`ocp/openshift/release:4.18.4-x86_64-${signed.components[0]?.name}`))
  assert.ok(!tags.some((name) => name.includes(`:${hexOf(signed.image.digest)}`)), tags.join(' '))

  succeeded(await run('mirror', '-c', config, `file://${disk}`))
  const inside = ['--workspace', join(root, 'closed'), '--dest-tls-verify=false']
  const env = { OCP_SIGNATURE_VERIFICATION_PK: outside.env['OCP_SIGNATURE_VERIFICATION_PK'] ?? '' }
  const closed = await startScriptedRegistry(t)
  const load = ['mirror', '--from', disk, '-c', config, ...inside, `docker://${closed.address}/ocp`]
  succeeded(await runCli(load, { env }))
  assert.deepEqual(releaseTags(closed), ['4.18.4-x86_64'])

  const unwanted = join(root, 'disc.yaml')
  const head = { kind: 'DeleteImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
  await writeFile(unwanted, JSON.stringify({ ...head, delete: { platform: { release } } }))
  const access = ['--workspace', work, '--dest-tls-verify=false', destination]
  succeeded(await runCli(['delete', '-c', unwanted, '--generate', ...access]))
  const list = join(work, 'working-dir/delete/delete-images.yaml')
  succeeded(await runCli(['delete', '--delete-yaml-file', list, ...access]))
  assert.deepEqual(
    [...target.content.tags.keys()].filter((name) => !name.endsWith('.sig')),
    [],
  )
})

test('from 4.21 on a release without a sigstore signature is refused, since nodes would refuse it', async (t) => {
  const { outside, target, configure, run, destination, root } = await scene(t, {
    releases: { '4.20.9': ['stable-4.21'], '4.21.3': ['stable-4.21'] },
    updates: [['4.20.9', '4.21.3']],
  })
  outside.registry.fault({ path: /manifests\/sha256-\w+\.sig/, status: 404 })
  const config = await configure({ channels: [{ name: 'stable-4.21', full: true }] })
  const args = ['mirror', '-c', config, '--workspace', join(root, 'work'), destination]
  const refused = await run(...args)
  assert.equal(refused.status, 2)
  assert.match(refused.stdout, /\(4\.21\.3-x86_64\) has no sigstore signature beside it/)
  assert.deepEqual(releaseTags(target), ['4.20.9-x86_64'])
  const forced = succeeded(await run(...args, '--ignore-release-signature'))
  assert.match(forced.stderr, /4\.21\.3-x86_64\) has no sigstore signature/)
  assert.deepEqual(releaseTags(target), ['4.20.9-x86_64', '4.21.3-x86_64'])
})

test('a plan is carried out only as far as signatures and policy allow today', async (t) => {
  const { outside, target, configure, run, destination, root } = await scene(t)
  const config = await configure({ channels: [{ name: 'stable-4.18' }] })
  const [plan, policy] = [join(root, 'plan.json'), join(root, 'policy.json')]
  const work = ['--workspace', join(root, 'work'), destination]
  succeeded(await run('mirror', '-c', config, '--plan-only', plan, ...work))
  await writeFile(policy, JSON.stringify({ default: [{ type: 'reject' }] }))
  const rejected = await run('mirror', '--plan', plan, '--secure-policy', '--policy', policy, ...work)
  assert.equal(rejected.status, 2)
  assert.match(rejected.stdout, /POLICY_REJECTED/)
  outside.signatures.fault({ path: /signature-1/, status: 404 })
  const unsigned = await run('mirror', '--plan', plan, '--workspace', join(root, 'other'), destination)
  assert.equal(unsigned.status, 2)
  assert.match(unsigned.stdout, /SIGNATURE_MISSING/)
  assert.deepEqual(releaseTags(target), [])
})

test('the base of the graph image is no exception to the policy', async (t) => {
  const { target, configure, run, destination, root } = await scene(t)
  const config = await configure({ channels: [{ name: 'stable-4.18' }], graph: true })
  const policy = join(root, 'policy.json')
  const docker = { 'registry.access.redhat.com': [{ type: 'reject' }] }
  await writeFile(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }], transports: { docker } }))
  const args = ['--secure-policy', '--policy', policy, '--workspace', join(root, 'work'), destination]
  const result = await run('mirror', '-c', config, ...args)
  assert.equal(result.status, 2)
  assert.match(result.stdout, /registry\.access\.redhat\.com\/ubi9\/ubi:latest is rejected by/)
  assert.deepEqual(releaseTags(target), ['4.18.4-x86_64'])
  assert.ok(!target.content.tags.has('ocp/openshift/graph-image:latest'))
})
