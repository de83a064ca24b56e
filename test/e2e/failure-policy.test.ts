import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeImage } from '../../testkit/image.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText } from '../../testkit/upstream.ts'

/** Three images at a source; the blobs of one of them are gone there until `mend` is called. */
async function scene(t: TestContext) {
  const source = await startScriptedRegistry(t)
  const target = await startScriptedRegistry(t)
  const images = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, makeImage({ seed: name, tag: '1' })]))
  const content = Object.entries(images).map(([name, image]) => ({ repository: `team/${name}`, images: [image] }))
  await pushAll(testClient(t).client, source.address, content)
  const [lost] = images['b']?.blobs ?? []
  assert.ok(lost)
  const digest = lost.descriptor.digest
  const bytes = source.content.blobs.get(digest)
  source.content.blobs.delete(digest)
  const mend = () => void source.content.blobs.set(digest, bytes ?? new Uint8Array())
  const root = await tempDir(t)
  const config = join(root, 'isc.yaml')
  const additional = ['a', 'b', 'c'].map((name) => ({ name: `${source.address}/team/${name}:1` }))
  const text = imageSetText({ additional })
  await writeFile(config, text)
  const unsigned = '--ignore-release-signature'
  const args = ['mirror', '-c', config, unsigned, '--workspace', join(root, 'work'), `docker://${target.address}/ocp`]
  const open = ['--src-tls-verify=false', '--dest-tls-verify=false', '--retry-times', '0']
  const run = (...more: readonly string[]) => runCli([...args, ...open, ...more])
  const failedFile = join(root, 'work', 'working-dir', 'sallyport', 'v1', 'failed.json')
  return { source, target, config, text, run, mend, failedFile }
}

test('one image that fails stops no other; it is tried again alone, and its record goes when it has arrived', async (t) => {
  const { source, target, run, mend, failedFile } = await scene(t)
  const first = await run()
  assert.equal(first.status, 8, first.stdout + first.stderr)
  assert.deepEqual([...target.content.tags.keys()].sort(), ['ocp/team/a:1', 'ocp/team/c:1'])
  assert.match(first.stdout, /failed: 1 image, BLOB_UNKNOWN: 127\.0\.0\.1:\d+ answered 404\n/)
  const [failed] = Object.values(JSON.parse(await readFile(failedFile, 'utf8')).targets).flat() as { source: string }[]
  assert.equal(failed?.source, `${source.address}/team/b:1`)

  mend()
  source.requests.length = 0
  const retried = await run('--retry-failed')
  assert.equal(retried.status, 0, retried.stdout + retried.stderr)
  assert.ok(target.content.tags.has('ocp/team/b:1'))
  assert.ok(source.requests.every(({ path }) => path === '/v2/' || path.startsWith('/v2/team/b/')))
  await assert.rejects(readFile(failedFile), { code: 'ENOENT' })
  const verified = await runCli([
    'verify',
    'mirror',
    '--workspace',
    join(failedFile, '../../../..'),
    '--dest-tls-verify=false',
  ])
  assert.equal(verified.status, 0, verified.stdout + verified.stderr)
  assert.match(verified.stdout, /3 images/)
})

test('a class that may fail ends with 0, and what is missing is told all the same; the flag wins over the configuration', async (t) => {
  const { config, text, run } = await scene(t)
  const allowed = await run('--on-failure', 'additional=warn')
  assert.equal(allowed.status, 0, allowed.stderr)
  assert.match(allowed.stdout, /1 image, BLOB_UNKNOWN/)
  await writeFile(config, JSON.stringify({ ...JSON.parse(text), failurePolicy: { additional: 'warn' } }))
  assert.equal((await run()).status, 0)
  assert.equal((await run('--on-failure', 'additional=fail')).status, 8)
})

test('a class that is skipped is not asked for, and said to be left out', async (t) => {
  const { source, target, run } = await scene(t)
  source.requests.length = 0
  const result = await run('--on-failure', 'additional=skip')
  assert.equal(result.status, 0, result.stderr)
  assert.match(result.stderr, /left out \(failure policy additional: skip\): mirror\.additionalImages, 3 images\n/)
  assert.deepEqual([source.requests.filter(({ path }) => path !== '/v2/').length, target.content.tags.size], [0, 0])
})
