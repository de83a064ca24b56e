import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mapConcurrently } from '../../src/host/concurrency.ts'
import { deleteSetText } from '../../testkit/delete-run.ts'
import { mirroredSite } from '../../testkit/mirrored-site.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { imageSetText, releaseName } from '../../testkit/upstream.ts'

async function scene(t: TestContext, kind: 'embedded' | 'docker' = 'embedded') {
  const site = await mirroredSite(t, kind)
  if (!site) return undefined
  const { at, upstream } = site
  const config = join(at.workspace, 'disc.yaml')
  await writeFile(
    config,
    deleteSetText({ release: releaseName(upstream.release), additional: upstream.additional.slice(0, 3) }),
  )
  const access = ['--dest-tls-verify=false', at.target]
  const generate = ['delete', '-c', config, '--generate', '--workspace', `file://${at.workspace}`]
  const list = join(at.workspace, 'working-dir', 'delete', 'delete-images.yaml')
  const carry = ['delete', '--delete-yaml-file', list]
  return { ...site, config, access, generate, carry, list }
}

test('both phases from the command line: a list to read, then the deletion, then the disk', async (t) => {
  const site = await scene(t)
  if (!site) return
  const { access, generate, carry, list, root, at, tags, upstream } = site
  const isc = join(at.workspace, 'other.yaml')
  await writeFile(isc, imageSetText({ additional: upstream.additional.slice(0, 1) }))
  const first = await runCli([...generate, '--keep-for', isc, ...access])
  assert.equal(first.status, 0, first.stderr)
  assert.match(first.stdout, /^would delete from 127\.0\.0\.1:\d+\/ocp:$/m)
  assert.match(first.stdout, /^ {2}images {6}13 release, 2 additional$/m)
  assert.match(first.stdout, /^ {2}of these {4}7 lose only this name: another one holds the image$/m)
  assert.match(first.stdout, /^kept: 1 image$/m)
  assert.match(first.stdout, /in use by .*other\.yaml \(additionalImages quay\.io\/extra\/single:1\)/)
  assert.ok(first.stdout.includes(`sallyport delete --delete-yaml-file ${list} --keep-for ${isc} ${at.target}`))

  const dry = await runCli([...carry, '--dry-run', ...access])
  assert.equal(dry.status, 0, dry.stderr)
  assert.match(dry.stdout, /^would delete from .*: 8 images \(\d+ manifests\), 7 names of images that stay$/m)
  assert.ok((await tags('openshift/release-images')).includes(upstream.release.tag))

  const elsewhere = await runCli([...carry, '--workspace', join(at.workspace, 'none'), '--dry-run', ...access])
  assert.match(elsewhere.stderr, /goes on believing that they are there; name it with --workspace/)
  assert.doesNotMatch(dry.stderr, /--workspace/)

  const second = await runCli(['--json', ...carry, '--gc-root', root, '--gc-grace', '0s', ...access])
  assert.equal(second.status, 0, second.stderr)
  const result = JSON.parse(second.stdout) as { manifests: number; freed: { bytesFreed: number }; images: object[] }
  assert.ok(result.manifests > 0 && result.freed.bytesFreed > 0)
  assert.equal(result.images.length, 15)
  assert.deepEqual((await site.verify()).findings, [])
  const verified = await runCli(['verify', 'mirror', '--workspace', at.workspace, ...access])
  assert.equal(verified.status, 0, verified.stdout)
})

test('for a registry whose disk we cannot free, its own command is named; tags that it keeps are told', async (t) => {
  const site = await scene(t, 'docker')
  if (!site) return
  const { access, generate, carry } = site
  assert.equal((await runCli([...generate, ...access])).status, 0)
  const { stdout, status } = await runCli([...carry, ...access])
  assert.equal(status, 0)
  assert.match(stdout, /still named: 7 tags; 127\.0\.0\.1:\d+ does not delete a tag by itself/)
  assert.match(stdout, /docker-registry {5}registry garbage-collect \/etc\/docker\/registry\/config\.yml/)
})

test("oc-mirror's own flags are taken, and those that do nothing here are told with the reason", async (t) => {
  const site = await scene(t)
  if (!site) return
  const { access, generate } = site
  const flags = ['--force-cache-delete', '--cache-dir', '/none', '--port', '5001', '--delete-id', 'june', '--v2']
  const { status, stderr } = await runCli([...generate, ...flags, ...access])
  assert.equal(status, 0, stderr)
  for (const name of ['--force-cache-delete', '--cache-dir', '--port'])
    assert.ok(stderr.includes(`${name} is ignored: `), stderr)
})

test('wrong usage is told before anything is asked or written', async (t) => {
  const directory = await tempDir(t)
  const config = join(directory, 'disc.yaml')
  await writeFile(config, deleteSetText({ additional: [{ name: 'quay.io/a/b:1' }] }))
  const target = 'docker://127.0.0.1:1/ocp'
  const refusals: [string[], number, RegExp][] = [
    [[target], 64, /Say which phase/],
    [['--generate', target], 64, /--generate needs -c FILE/],
    [['--generate', '-c', config, '--delete-yaml-file', 'x', target], 64, /two phases: read the list in between/],
    [['--generate', '-c', config, '--dry-run', target], 64, /--dry-run belongs to the second phase/],
    [['--generate', '-c', config, '--gc-root', '/x', target], 64, /--gc-root belongs to the second phase/],
    [['--generate', '-c', config, '--delete-id', '../x', target], 64, /it becomes part of a file name/],
    [['--delete-yaml-file', 'x', '-c', config, target], 64, /-c belongs to the first phase/],
    [['--delete-yaml-file', 'x', '--delete-v1-images', target], 64, /--delete-v1-images belongs to the first phase/],
    [['--delete-yaml-file', config, target], 78, /is no list of images to delete: kind: it must be DeleteImageList/],
    [['--delete-yaml-file', join(directory, 'none'), target], 1, /there is no such file/],
    [['--generate', '-c', config, 'file:///x'], 64, /is no destination/],
    [['--delete-yaml-file', config, '--gc-root', directory, target], 1, /There is no store at/],
  ]
  await mapConcurrently(refusals, 4, async ([args, status, message]) => {
    const result = await runCli(['delete', ...args], { cwd: directory })
    assert.equal(result.status, status, `${args.join(' ')}: ${result.stderr}`)
    assert.match(result.stderr, message)
    assert.match(result.stderr, /next: /)
  })
})

test('parts of a configuration that cannot be told are refused by name and place, with what to do instead', async (t) => {
  const directory = await tempDir(t)
  const config = join(directory, 'disc.yaml')
  const lines = [
    'kind: DeleteImageSetConfiguration',
    'apiVersion: mirror.openshift.io/v2alpha1',
    'delete:',
    '  platform:',
    '    graph: true',
    '    platforms: [{os: linux, architecture: amd64}]',
    '  operators: [{catalog: registry.redhat.io/redhat/redhat-operator-index:v4.12}]',
    '  helm: {local: [{name: x, path: /y}]}',
  ]
  await writeFile(config, `${lines.join('\n')}\n`)
  const { status, stderr } = await runCli(['delete', '-c', config, '--generate', 'docker://127.0.0.1:1/ocp'])
  assert.equal(status, 78)
  assert.match(stderr, /disc\.yaml:6:5: delete\.platform\.platforms: .*with all its platforms/)
  assert.match(stderr, /disc\.yaml:7:3: delete\.operators: .*--delete-yaml-file/)
  assert.match(stderr, /disc\.yaml:8:3: delete\.helm: /)
  assert.doesNotMatch(stderr, /graph/)
})

test('Ctrl-C, and a kill at any moment, leave images that are whole or gone; the same command ends the work', async (t) => {
  const site = await scene(t)
  if (!site) return
  const { access, generate, carry, tags, upstream } = site
  assert.equal((await runCli([...generate, '--delete-signatures', ...access])).status, 0)
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const child = spawn(process.execPath, [mainFile, '--events', '-', ...carry, ...access], {
      env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    const errors = text(child.stderr)
    child.stdout.on('data', (data: Buffer) => data.includes('manifest.deleted') && child.kill(signal))
    const [status] = (await ended) as [number | null]
    if (signal === 'SIGINT') assert.ok(status === 130 || status === 0, `${status}: ${await errors}`)
  }
  const { status, stderr } = await runCli([...carry, ...access])
  assert.equal(status, 0, stderr)
  assert.ok(!(await tags('openshift/release-images')).includes(upstream.release.tag))
  assert.deepEqual((await site.verify()).findings, [])
  const pending = join(site.at.workspace, 'working-dir', 'sallyport', 'v1', 'deletions.json')
  assert.equal(await readFile(pending, 'utf8'), '{"version":1,"targets":{}}\n')
})

const mainFile = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
