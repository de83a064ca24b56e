import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeImage, makeMultiArch, makeSignature } from '../../testkit/image.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { type ScriptedRegistryOptions, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText } from '../../testkit/upstream.ts'

/** A source with a signed image of two platforms deep in its tree, an empty target, and a configuration. */
async function scene(
  t: TestContext,
  options: { source?: ScriptedRegistryOptions; target?: ScriptedRegistryOptions } = {},
) {
  const source = await startScriptedRegistry(t, options.source)
  const target = await startScriptedRegistry(t, options.target)
  const image = makeMultiArch({ seed: 'deep', architectures: ['amd64', 'arm64'], tag: '1' })
  const other = makeImage({ seed: 'other', tag: '1' })
  const credentials = {
    find: async (key: string) => ({ kind: 'password', username: 'reader', password: 'read-secret', key }) as const,
  }
  await pushAll(testClient(t, { credentials }).client, source.address, [
    { repository: 'team/tools/deep/image', images: [image, makeSignature(image)] },
    { repository: 'other', images: [other] },
  ])
  source.requests.length = 0
  const root = await tempDir(t)
  const config = join(root, 'isc.yaml')
  const names = ['team/tools/deep/image:1', 'other:1'].map((name) => ({ name: `${source.address}/${name}` }))
  await writeFile(config, imageSetText({ additional: names }))
  const destination = `docker://${target.address}/ocp`
  const usual = ['mirror', '-c', config, '--workspace', `file://${root}/work`, destination, '--v2']
  const open = ['--src-tls-verify=false', '--dest-tls-verify=false']
  const run = (...more: readonly string[]) => runCli([...usual, ...open, ...more])
  return { source, target, image, root, run }
}

test('a command line as it was written for oc-mirror does its work, and says once what is ignored and why', async (t) => {
  const { target, run } = await scene(t)
  const moving = ['--parallel-images', '2', '--parallel-layers', '2', '--retry-times', '3', '--retry-delay', '10ms']
  const shape = ['--max-nested-paths', '3', '--remove-signatures=true']
  const result = await run(...moving, ...shape, '-p', '55000', '--cache-dir', '/cache', '--image-timeout=20m')
  assert.equal(result.status, 0, result.stderr)
  const told = result.stderr.split('\n').filter((line) => line.includes(' is ignored: '))
  assert.deepEqual(told.map((line) => /(--\S+) is ignored: \w/.exec(line)?.[1]).sort(), [
    '--cache-dir',
    '--image-timeout',
    '--port',
  ])
  const tags = [...target.content.tags.keys()].sort()
  assert.deepEqual(tags, ['ocp/other:1', 'ocp/team/tools-deep-image:1'])
})

test('a limit that the path of the destination fills by itself is refused', async (t) => {
  const { target, run } = await scene(t)
  const result = await run('--max-nested-paths', '1')
  assert.equal(result.status, 64)
  assert.match(result.stderr, /--max-nested-paths 1 leaves no room below ocp[\s\S]*next: Allow at least 2/)
  assert.deepEqual(target.requests, [])
})

test('with --secure-policy an image that the policy does not accept is not moved, and its message names file and line', async (t) => {
  const { source, target, root, run } = await scene(t)
  const policy = join(root, 'policy.json')
  const reject = [{ type: 'reject' }]
  const docker = { [`${source.address}/other`]: reject }
  const write = (content: object) => writeFile(policy, JSON.stringify(content, null, 1))
  await write({ default: [{ type: 'insecureAcceptAnything' }], transports: { docker } })
  const refused = await run('--secure-policy', '--policy', policy)
  assert.equal(refused.status, 8)
  assert.match(refused.stdout, /other:1 is rejected by \S+policy\.json:\d+: transports\.docker/)
  const tags = () => [...target.content.tags.keys()].filter((tag) => !tag.endsWith('.sig')).sort()
  assert.deepEqual(tags(), ['ocp/team/tools/deep/image:1'])
  await write({ default: [{ type: 'insecureAcceptAnything' }] })
  assert.equal((await run('--secure-policy', '--policy', policy)).status, 0)
  assert.deepEqual(tags(), ['ocp/other:1', 'ocp/team/tools/deep/image:1'])
})

test('source and destination each get their own credentials, and no output has a password', async (t) => {
  const { source, target, root, run } = await scene(t, {
    source: { auth: { kind: 'basic', username: 'reader', password: 'read-secret' } },
    target: { auth: { kind: 'bearer', username: 'writer', password: 'write-secret' } },
  })
  const authfile = join(root, 'dest.json')
  const auth = Buffer.from('writer:write-secret').toString('base64')
  await writeFile(authfile, JSON.stringify({ auths: { [target.address]: { auth } } }), { mode: 0o600 })
  const result = await run('--src-creds', 'reader:read-secret', '--dest-authfile', authfile, '--log-level', 'trace')
  assert.equal(result.status, 0, result.stderr)
  assert.ok(!/(?:read|write)-secret/.test(result.stdout + result.stderr))
  const basic = (login: string) => `Basic ${Buffer.from(login).toString('base64')}`
  assert.ok(source.requests.some(({ headers }) => headers.authorization === basic('reader:read-secret')))
  assert.ok(target.requests.every(({ headers }) => headers.authorization !== basic('reader:read-secret')))
  const refused = await run('--src-creds', 'reader:wrong', '--dest-authfile', authfile, '--retry-times', '0')
  assert.notEqual(refused.status, 0)
  assert.match(refused.stdout + refused.stderr, /REGISTRY_UNAUTHORIZED[\s\S]*--src-creds/)
})

test('a dry run with manifest lists writes a line for each platform, and moves nothing', async (t) => {
  const { image, root, run, target } = await scene(t)
  const result = await run('--dry-run-manifest-lists')
  assert.equal(result.status, 0, result.stderr)
  const lines = (await readFile(join(root, 'work', 'working-dir', 'dry-run', 'mapping.txt'), 'utf8')).trim().split('\n')
  const ofImage = lines.filter((line) => line.includes('deep/image'))
  const platforms = image.manifests
    .map(({ descriptor }) => descriptor.digest)
    .filter((digest) => digest !== image.digest)
  assert.equal(ofImage.length, 3)
  for (const digest of platforms)
    assert.ok(ofImage.some((line) => line.endsWith(`/ocp/team/tools/deep/image@${digest}`)))
  assert.equal(target.content.tags.size, 0)
})
