import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseReference } from '../../src/oci/reference.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage } from '../../testkit/image.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, releaseName, startUpstream } from '../../testkit/upstream.ts'

/** An upstream, an empty target, and a way to make a plan of one for the other. */
async function scene(t: TestContext) {
  const upstream = await startUpstream(t)
  const registry = await startEmbeddedRegistry(t)
  const root = await tempDir(t)
  const destination = `docker://${registry.address}/ocp`
  const unsigned = '--ignore-release-signature'
  const access = ['--dest-tls-verify=false', '--registries-conf', upstream.registriesConf]
  const mirror = async (config: string, ...more: readonly string[]) => {
    const file = join(root, 'isc.yaml')
    await writeFile(file, config)
    const result = await runCli([
      'mirror',
      '-c',
      file,
      '--workspace',
      join(root, 'work'),
      ...access,
      ...[unsigned, ...more],
      destination,
    ])
    assert.equal(result.status, 0, result.stderr)
    return result
  }
  const plan = (...args: readonly string[]) => runCli(['plan', ...args])
  return { upstream, root, destination, mirror, plan, access }
}

test('a plan is shown, compared with a later one, and with the target before and after it was carried out', async (t) => {
  const { upstream, root, destination, mirror, plan, access } = await scene(t)
  const { additional, release } = upstream
  const [first, second] = [join(root, 'first.json'), join(root, 'second.json')]
  const less = imageSetText({ additional: additional.slice(1) })
  const more = imageSetText({ additional: additional.slice(0, -1), release: releaseName(release) })
  await mirror(less, '--plan-only', first)
  await mirror(more, '--plan-only', second)

  const shown = await plan('show', second)
  assert.equal(shown.status, 0, shown.stderr)
  assert.match(shown.stdout, /^plan for 127\.0\.0\.1:\d+\/ocp: \d+ images, 0 there already\n {2}release/)
  assert.match(
    shown.stdout,
    /largest blobs:\n[^\n]* sha256:[0-9a-f]{12} {2}quay\.io\/extra\/attested\n +for extra\/attested:latest: additionalImages/,
  )
  const summary = JSON.parse((await plan('show', second, '--largest', '3', '--json')).stdout)
  assert.equal(summary.largest.length, 3)

  const diff = await plan('diff', first, second, '--exit-code')
  assert.equal(diff.status, 1, diff.stderr)
  assert.match(diff.stdout, /^images: \d+ added, 1 removed, 0 changed, \d+ the same\n/)
  assert.match(diff.stdout, new RegExp(`\\n {2}- ${additional.at(-1)?.destination} {2}\\(additionalImages `))
  assert.match(diff.stdout, /\n {2}\+ extra\/single:1 {2}\(additionalImages/)
  assert.match(diff.stdout, /\nto move: \d+ blobs \([\d.]+ \w+\) more, /)
  assert.equal((await plan('diff', first, first, '--exit-code')).status, 0)

  const before = await plan('diff', second, destination, ...access, '--exit-code', '--json')
  assert.equal(before.status, 1, before.stderr)
  const { images, blobs } = JSON.parse(before.stdout)
  assert.deepEqual([images.there, blobs.there], [0, 0])
  await mirror(more)
  const after = await plan('diff', second, destination, ...access, '--exit-code')
  assert.equal(after.status, 0, after.stdout + after.stderr)
  assert.match(after.stdout, /^everything of the plan is at 127\.0\.0\.1:\d+\/ocp: \d+ images\n$/)
})

test('a plan that was edited into nonsense is refused with the place, and the exit status of what does not load', async (t) => {
  const { upstream, root, mirror, plan } = await scene(t)
  const file = join(root, 'plan.json')
  await mirror(imageSetText({ additional: upstream.additional }), '--plan-only', file)
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/\/ocp\/extra\/list:2"/g, '/elsewhere/list:2"'))
  const result = await plan('show', file)
  assert.equal(result.status, 78)
  assert.match(
    result.stderr,
    /^error PLAN_INVALID: .*plan\.json: not a plan: manifests\[\d+\]: .*elsewhere\/list:2 is not below the target/,
  )
  assert.match(result.stderr, /next: Make the plan anew/)
})

test('a plan that was reviewed is what is carried out, also when its tags mean something else by then', async (t) => {
  const { upstream, root, destination, mirror, access } = await scene(t)
  const file = join(root, 'plan.json')
  const config = imageSetText({ release: releaseName(upstream.release), additional: upstream.additional })
  await mirror(config, '--plan-only', file)
  const planned = JSON.parse(await readFile(file, 'utf8')) as { images: { destination: string; digest: string }[] }
  const moved = makeImage({ seed: 'moved since', tag: '1' })
  await pushAll(testClient(t).client, upstream.registry.address, [{ repository: 'extra/single', images: [moved] }])
  const work = ['--workspace', join(root, 'other')]
  const carriedOut = await runCli([
    'mirror',
    '--plan',
    file,
    '--ignore-release-signature',
    ...work,
    ...access,
    destination,
  ])
  assert.equal(carriedOut.status, 0, carriedOut.stderr)
  const { client } = testClient(t)
  for (const { destination: name, digest } of planned.images) {
    assert.equal((await client.resolve(parseReference(name)))?.digest, digest, name)
  }
  const verify = await runCli(['verify', 'mirror', ...work, ...access, destination])
  assert.equal(verify.status, 0, verify.stdout)
})

test('a plan for an archive is carried out into one, and a plan for another target is refused', async (t) => {
  const { upstream, root, destination, access } = await scene(t)
  const [plan, config, disk] = [join(root, 'plan.json'), join(root, 'isc.yaml'), join(root, 'disk')]
  await writeFile(config, imageSetText({ additional: upstream.additional }))
  const run = (...args: string[]) => runCli(['mirror', ...access, '--workspace', join(root, 'work'), ...args])
  const made = await run('-c', config, '--plan-only', plan, `file://${disk}`)
  assert.equal(made.status, 0, made.stderr)
  const written = await run('--plan', plan, `file://${disk}`, '--json')
  assert.equal(written.status, 0, written.stderr)
  const { totals } = (JSON.parse(written.stdout) as { archive: { totals: { blobs: number } } }).archive
  assert.ok(totals.blobs > 0)
  const foreign = await run('--plan', plan, destination)
  assert.equal(foreign.status, 64)
  assert.match(foreign.stderr, /The plan is for archive\.invalid, not for/)
})
