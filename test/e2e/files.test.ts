/** Files that travel with the images: from the web and the disk into an archive, into a registry, and back. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { parseMirrorTarget } from '../../src/mirror/destination.ts'
import { digestOf, hexOf } from '../../src/oci/digest.ts'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { carryToDisk, carryToRegistry, loadFromDisk } from '../../testkit/file-trip.ts'
import { peer } from '../../testkit/peers.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { smallDisk } from '../../testkit/small-disk.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'

/** Not `execFileSync`: the registry is in this process. */
const run = promisify(execFile)

const ova = randomBytes(3 * 1024 * 1024)
const sha256 = hexOf(digestOf(ova))
const tag = sha256.slice(0, 12)

async function site(t: TestContext) {
  const web = await startScriptedWeb(t)
  web.files.set('/pub/RHCOS-vmware.ova', ova)
  const cwd = await tempDir(t)
  await writeFile(join(cwd, 'notes.txt'), 'read me first\n')
  await writeFile(join(cwd, 'empty'), '')
  const entries = [
    { url: `${web.url}/pub/RHCOS-vmware.ova`, sha256 },
    { path: 'notes.txt' },
    { path: 'empty', targetRepo: 'tools/nothing', targetTag: 'v1' },
  ]
  const directory = join(cwd, 'archives')
  await mkdir(directory)
  const carriage = { entries, web: testWebClient(t).client, cwd, signal: t.signal, directory, volumeBytes: 1024 * 1024 }
  return { web, cwd, directory, carriage }
}

async function mirror(t: TestContext) {
  const registry = await startEmbeddedRegistry(t)
  const target = parseMirrorTarget(`docker://${registry.address}/ocp`)
  const { client } = testClient(t)
  const cli = (...args: string[]) => runCli(['files', ...args, '--dest-tls-verify=false'])
  return { registry, target, client, cli, place: `docker://${registry.address}/ocp` }
}

test('files cross on a disk, are listed there, and come out as they went in', async (t) => {
  const { directory, cwd, carriage, web } = await site(t)
  await carryToDisk(carriage)
  await web.close()
  const listed = await runCli(['files', 'ls', directory, '--json'])
  assert.equal(listed.status, 0, listed.stderr)
  assert.deepEqual(
    (JSON.parse(listed.stdout) as { name: string; size: number; state: string; url?: string }[]).map(
      ({ name, size, state, url }) => [name, size, state, url],
    ),
    [
      ['RHCOS-vmware.ova', ova.byteLength, 'here', `${web.url}/pub/RHCOS-vmware.ova`],
      ['notes.txt', 14, 'here', undefined],
      ['empty', 0, 'here', undefined],
    ],
  )
  const text = (await runCli(['files', 'ls', directory])).stdout
  assert.match(text, /^3 files, 3\.0 MiB, at .*\n\nRHCOS-vmware\.ova {2}3\.0 MiB\n {2}digest {2}sha256:[0-9a-f]{64}\n/)
  const to = join(cwd, 'out')
  const got = await runCli(['files', 'get', directory, '--all', '--to', `${to}/`])
  assert.equal(got.status, 0, got.stderr)
  assert.deepEqual((await readdir(to)).sort(), ['RHCOS-vmware.ova', 'empty', 'notes.txt'])
  assert.deepEqual(await readFile(join(to, 'RHCOS-vmware.ova')), ova)
  assert.equal(await readFile(join(to, 'notes.txt'), 'utf8'), 'read me first\n')
  assert.equal((await stat(join(to, 'empty'))).size, 0)
})

test('without this program tar and sha256sum give a file back', async (t) => {
  const { directory, cwd, carriage } = await site(t)
  await carryToDisk({ ...carriage, volumeBytes: 16 * 1024 * 1024 })
  const [volume = ''] = await readdir(directory)
  const name = `blobs/sha256/${sha256}`
  execFileSync('tar', ['-xf', join(directory, volume), '-C', cwd, name])
  const sum = execFileSync('sha256sum', [join(cwd, name)], { encoding: 'utf8' })
  assert.equal(sum.split(' ')[0], sha256)
})

test('the closed side loads them by the configuration alone, and a mirror gives them back by name', async (t) => {
  const { cwd, carriage, web } = await site(t)
  const { client, target, cli, place, registry } = await mirror(t)
  await carryToDisk(carriage)
  await web.close()
  const report = await loadFromDisk(carriage, target, client)
  assert.equal(report.failures.size, 0, String([...report.failures]))
  const listed = await cli('ls', place, '--json')
  assert.equal(listed.status, 0, listed.stderr)
  const files = JSON.parse(listed.stdout) as { name: string; place: string }[]
  assert.deepEqual(
    files.map(({ name, place }) => `${name} ${place}`),
    [
      `notes.txt ${registry.address}/ocp/files/notes.txt:latest`,
      `RHCOS-vmware.ova ${registry.address}/ocp/files/rhcos-vmware.ova:${tag}`,
    ],
  )
  const to = join(cwd, 'boot.ova')
  for (const name of ['RHCOS-vmware.ova', `RHCOS-vmware.ova:${tag}`, 'files/rhcos-vmware.ova']) {
    const got = await cli('get', place, name, '--to', to, '--force')
    assert.equal(got.status, 0, got.stderr)
    assert.deepEqual(await readFile(to), ova)
  }
  assert.equal((await cli('get', place, 'tools/nothing:v1', '--to', join(cwd, 'nothing'))).status, 0)
})

test('oras gives a mirrored file back under its own name', async (t) => {
  const oras = peer(t, 'oras')
  if (!oras) return
  const { cwd, carriage } = await site(t)
  const { client, target, registry } = await mirror(t)
  await carryToRegistry(carriage, target, client)
  const image = `${registry.address}/ocp/files/rhcos-vmware.ova:${tag}`
  const to = join(cwd, 'pulled')
  await run(oras, ['pull', '--plain-http', image, '-o', to])
  assert.deepEqual(await readFile(join(to, 'RHCOS-vmware.ova')), ova)
})

test('what oras pushed as one file is listed and taken like our own', async (t) => {
  const oras = peer(t, 'oras')
  if (!oras) return
  const { cwd } = await site(t)
  const { registry, cli, place } = await mirror(t)
  const image = `${registry.address}/ocp/files/notes.txt:v1`
  await run(oras, ['push', '--plain-http', image, 'notes.txt'], { cwd })
  const got = await cli('get', place, 'notes.txt', '--to', join(cwd, 'taken.txt'))
  assert.equal(got.status, 0, got.stderr)
  assert.equal(await readFile(join(cwd, 'taken.txt'), 'utf8'), 'read me first\n')
})

test('the registry of others keeps files, lists them, and gives them to oras', async (t) => {
  const oras = peer(t, 'oras')
  const docker = await startDockerRegistry(t)
  if (!oras || !docker) return
  const { cwd, carriage } = await site(t)
  const place = `docker://${docker.address}/ocp`
  const report = await carryToRegistry(carriage, parseMirrorTarget(place), testClient(t).client)
  assert.equal(report.failures.size, 0, String([...report.failures]))
  const listed = await runCli(['files', 'ls', place, '--dest-tls-verify=false'])
  assert.match(listed.stdout, /^2 files, 3\.0 MiB, at docker:/)
  const image = `${docker.address}/ocp/files/rhcos-vmware.ova:${tag}`
  await run(oras, ['pull', '--plain-http', image, '-o', join(cwd, 'pulled')])
  assert.deepEqual(await readFile(join(cwd, 'pulled', 'RHCOS-vmware.ova')), ova)
})

test('where a registry does not list its repositories, that is said, and a file comes by its name', async (t) => {
  const { cwd, carriage } = await site(t)
  const registry = await startScriptedRegistry(t)
  registry.fault({ path: /_catalog/, status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } })
  const place = `docker://${registry.address}/ocp`
  await carryToRegistry(carriage, parseMirrorTarget(place), testClient(t).client)
  const listed = await runCli(['files', 'ls', place, '--dest-tls-verify=false'])
  assert.equal(listed.status, 1)
  assert.match(listed.stderr, /does not tell its repositories.*\n.*sallyport files get docker:\/\/HOST\/PATH NAME/s)
  const got = await runCli(['files', 'get', place, 'notes.txt', '--to', join(cwd, 'n'), '--dest-tls-verify=false'])
  assert.equal(got.status, 0, got.stderr)
})

test('wrong content is nowhere under its tag, and the archive has a hole with its name', async (t) => {
  const { web, directory, carriage } = await site(t)
  const { client, target, registry } = await mirror(t)
  web.files.set('/pub/RHCOS-vmware.ova', Buffer.from(ova).fill(0, 0, 1))
  const report = await carryToRegistry(carriage, target, client)
  const image = `${registry.address}/ocp/files/rhcos-vmware.ova:${tag}`
  assert.match(String(report.failures.get(image)), /RHCOS-vmware\.ova: this is not the file .* expected sha256:/)
  assert.equal(await client.resolve({ ...target, repository: 'ocp/files/rhcos-vmware.ova', tag }), undefined)
  assert.notEqual(await client.resolve({ ...target, repository: 'ocp/files/notes.txt', tag: 'latest' }), undefined)
  await carryToDisk(carriage)
  const listed = await runCli(['files', 'ls', directory])
  assert.equal(listed.status, 1)
  assert.match(listed.stdout, /rhcos-vmware\.ova\n {2}state {3}MISSING: it was not to be had when the archive was made/)
  const got = await runCli(['files', 'get', directory, 'files/rhcos-vmware.ova'])
  assert.equal(got.status, 1)
  assert.match(got.stderr, /it was not to be had when the archive was made/)
})

test('a file that is there is left alone, another one is not replaced without a word', async (t) => {
  const { directory, cwd, carriage } = await site(t)
  await carryToDisk(carriage)
  const to = join(cwd, 'taken.txt')
  const get = (...more: string[]) => runCli(['files', 'get', directory, 'notes.txt', '--to', to, ...more])
  assert.equal((await get()).status, 0)
  const { mtimeMs } = await stat(to)
  assert.match((await get()).stdout, /was there already/)
  assert.equal((await stat(to)).mtimeMs, mtimeMs)
  await writeFile(to, 'precious')
  assert.match((await get()).stderr, /taken\.txt is there already, and is another file/)
  assert.equal(await readFile(to, 'utf8'), 'precious')
  assert.equal((await get('--force')).status, 0)
  assert.equal(await readFile(to, 'utf8'), 'read me first\n')
})

test('damage and a full disk leave nothing behind, and say what is wrong', async (t) => {
  const { directory, cwd, carriage } = await site(t)
  await carryToDisk({ ...carriage, volumeBytes: 16 * 1024 * 1024 })
  const disk = await smallDisk(t, 1024 * 1024)
  if (!disk) return
  const full = await runCli(['files', 'get', directory, 'RHCOS-vmware.ova', '--to', disk.path])
  assert.match(full.stderr, /Not enough space/)
  assert.deepEqual(await readdir(disk.path), ['filler'])
  const [volume = ''] = await readdir(directory)
  const path = join(directory, volume)
  const bytes = await readFile(path)
  bytes.writeUInt8((ova[1000] ?? 0) ^ 1, bytes.indexOf(ova.subarray(1000, 1064)))
  await writeFile(path, bytes)
  const to = join(cwd, 'out')
  const damaged = await runCli(['files', 'get', directory, 'RHCOS-vmware.ova', '--to', `${to}/`])
  assert.equal(damaged.status, 1)
  assert.match(damaged.stderr, /expected sha256:/)
  assert.deepEqual(await readdir(to), [])
})

test('a lost volume costs the files in it, and no other', async (t) => {
  const { directory, cwd, carriage } = await site(t)
  const { files } = await carryToDisk(carriage)
  await rm(files[1] ?? '')
  const listed = await runCli(['files', 'ls', directory])
  assert.equal(listed.status, 1)
  assert.match(listed.stdout, /RHCOS-vmware\.ova {2}3\.0 MiB\n {2}state {3}MISSING: the volume/)
  const got = await runCli(['files', 'get', directory, 'notes.txt', '--to', join(cwd, 'n')])
  assert.equal(got.status, 0, got.stderr)
})
