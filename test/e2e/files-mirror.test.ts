/** Files and boot images on the whole way: mirrored to disk, loaded, verified, taken out, by the commands that people give. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { digestOf, hexOf } from '../../src/oci/digest.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { releaseName, startUpstream } from '../../testkit/upstream.ts'

const ova = randomBytes(700_000)
const client = randomBytes(50_000)

function sum(bytes: Uint8Array): string {
  return hexOf(digestOf(bytes))
}

function succeeded(result: CliResult, status = 0): string {
  assert.equal(result.status, status, `${result.stdout}${result.stderr}`)
  return result.stdout
}

async function site(t: TestContext) {
  const web = await startScriptedWeb(t)
  web.files.set('/rhcos/rhcos-418.9-vmware.x86_64.ova', ova)
  web.files.set('/pub/openshift-client-linux.tar.gz', client)
  const artifact = { location: `${web.url}/rhcos/rhcos-418.9-vmware.x86_64.ova`, sha256: sum(ova) }
  const stream = {
    stream: 'rhcos-4.18',
    architectures: {
      x86_64: {
        artifacts: { vmware: { release: '418.9', formats: { ova: { disk: artifact } } } },
        images: { aws: { regions: { 'us-east-1': { image: 'ami-0123456789' } } } },
      },
    },
  }
  const bootImages = JSON.stringify({ kind: 'ConfigMap', data: { stream: JSON.stringify(stream) } })
  const upstream = await startUpstream(t, { release: { bootImages }, images: { content: [], additional: [] } })
  const desk = await tempDir(t)
  const usb = join(desk, 'usb')
  await mkdir(usb)
  await writeFile(join(desk, 'notes.txt'), 'read me first\n')
  const configure = async (platforms: readonly string[], files: readonly object[]) => {
    const platform = { release: releaseName(upstream.release), bootImages: platforms.map((platform) => ({ platform })) }
    const mirror = { platform, files }
    const text = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1', mirror }
    await writeFile(join(desk, 'isc.yaml'), JSON.stringify(text))
  }
  const files = [
    { url: `${web.url}/pub/openshift-client-linux.tar.gz`, sha256: sum(client), targetTag: 'v4.18.9' },
    { path: 'notes.txt' },
  ]
  const run = (...args: string[]) => runCli(args, { cwd: desk })
  const open = ['--ignore-release-signature', '--registries-conf', upstream.registriesConf, '--workspace', 'open']
  const diskArgs = ['mirror', '-c', 'isc.yaml', ...open]
  const toDisk = (...args: string[]) => run(...diskArgs, ...args, `file://${usb}`)
  return { web, upstream, desk, usb, configure, files, run, open, diskArgs, toDisk }
}

async function closedSide(t: TestContext) {
  const registry = await startEmbeddedRegistry(t)
  const target = `docker://${registry.address}/ocp`
  return { registry, target, closed: ['--workspace', 'closed', '--dest-tls-verify=false'] }
}

test('boot images and files cross the gap with their release, and come out of the mirror as they were', async (t) => {
  const { web, upstream, desk, usb, configure, files, run, toDisk } = await site(t)
  const { registry, target, closed } = await closedSide(t)
  await configure(['vmware', 'aws'], files)
  const written = await toDisk()
  succeeded(written)
  assert.match(written.stderr + written.stdout, /machines start from the AMIs of 1 regions?: us-east-1 ami-0123456789/)
  await web.close()
  await upstream.registry.close()
  succeeded(await run('mirror', '--from', `file://${usb}`, ...closed, '--ignore-release-signature', target))
  const listed = JSON.parse(succeeded(await run('files', 'ls', target, '--dest-tls-verify=false', '--json'))) as {
    place: string
  }[]
  const at = (image: string) => `${registry.address}/ocp/files/${image}`
  assert.deepEqual(
    listed.map(({ place }) => place),
    [at('notes.txt:latest'), at('openshift-client-linux.tar.gz:v4.18.9'), at('rhcos-418.9-vmware.x86_64.ova:4.18.9')],
  )
  succeeded(await run('files', 'get', target, '--all', '--to', 'out/', '--dest-tls-verify=false'))
  assert.deepEqual((await readdir(join(desk, 'out'))).length, 3)
  assert.deepEqual(await readFile(join(desk, 'out', 'rhcos-418.9-vmware.x86_64.ova')), ova)
  assert.deepEqual(await readFile(join(desk, 'out', 'openshift-client-linux.tar.gz')), client)
  const verified = await run('verify', 'mirror', ...closed, '--deep')
  succeeded(verified)
  const resources = join(desk, 'closed', 'working-dir', 'cluster-resources')
  for (const name of await readdir(resources)) {
    assert.doesNotMatch(await readFile(join(resources, name), 'utf8'), /sallyport\.invalid/)
  }
})

test('the second disk carries a file only where it changed', async (t) => {
  const { desk, usb, configure, files, toDisk, web, run } = await site(t)
  await configure(['vmware'], files)
  succeeded(await toDisk('--json'))
  web.requests.length = 0
  await writeFile(join(desk, 'notes.txt'), 'read me as well\n')
  const again = JSON.parse(succeeded(await toDisk('--json'))) as {
    archive?: { totals: { blobs: number; bytes: number } }
  }
  const { bytes = 0, blobs } = again.archive?.totals ?? {}
  assert.equal(blobs, 1)
  assert.ok(bytes < 1000, `${bytes} bytes`)
  assert.deepEqual([...new Set(web.requests.map(({ method }) => method))], ['HEAD'])
  assert.equal((await readdir(usb)).length, 2)
  const states = async (place: string) => {
    const { stdout } = await run('files', 'ls', place, '--json')
    const found = JSON.parse(stdout) as { name: string; state: string; place: string }[]
    return found.map(({ name, state, place }) => `${name} ${state} ${place}`).sort()
  }
  const [first, second] = ['sallyport-v1-000001', 'sallyport-v1-000002']
  const [ovaName, clientName] = ['rhcos-418.9-vmware.x86_64.ova', 'openshift-client-linux.tar.gz']
  assert.deepEqual(await states(`${usb}:2`), [
    `notes.txt here ${second}`,
    `${clientName} held ${second}`,
    `${ovaName} held ${second}`,
  ])
  assert.deepEqual(await states(usb), [
    `notes.txt here ${second}`,
    `${clientName} here ${first}`,
    `${ovaName} here ${first}`,
  ])
  succeeded(await run('files', 'get', usb, 'notes.txt', '--to', 'new'))
  assert.equal(await readFile(join(desk, 'new'), 'utf8'), 'read me as well\n')
  succeeded(await run('files', 'get', `${usb}:1`, 'notes.txt', '--to', 'old'))
  assert.equal(await readFile(join(desk, 'old'), 'utf8'), 'read me first\n')
})

test('a run that was killed goes on with the bytes that it had', async (t) => {
  const { usb, configure, files, toDisk, web, desk, run, diskArgs } = await site(t)
  await configure(['vmware'], files)
  web.fault({ method: 'GET', path: /rhcos/, times: 1, stallAfter: 600_000 })
  const killed = new AbortController()
  const begun = runCli([...diskArgs, `file://${usb}`], { cwd: desk, kill: killed.signal })
  const sentOf = (path: RegExp) =>
    web.requests
      .filter((one) => one.method === 'GET' && path.test(one.path))
      .reduce((all, one) => all + one.bytesOut, 0)
  while (sentOf(/rhcos/) < 600_000) await setImmediate()
  // Written down as they arrive; a moment later than sent.
  const progress = () => readFile(join(usb, 'sallyport-v1-000001.progress'), 'utf8').catch(() => '')
  while ((await progress()) === '') await setImmediate()
  killed.abort()
  assert.equal((await begun).signal, 'SIGKILL')
  web.requests.length = 0
  succeeded(await toDisk())
  assert.ok(sentOf(/rhcos/) <= ova.byteLength, `${sentOf(/rhcos/)} bytes`)
  succeeded(await run('files', 'get', usb, '--all', '--to', 'out/'))
  assert.deepEqual(await readFile(join(desk, 'out', 'rhcos-418.9-vmware.x86_64.ova')), ova)
})

test('a file that cannot be had is a hole of its class, and the rest is carried', async (t) => {
  const { usb, configure, files, toDisk, web, run } = await site(t)
  await configure(['vmware', 'nutanix'], files)
  web.files.delete('/pub/openshift-client-linux.tar.gz')
  const { status, stdout, stderr } = await toDisk()
  // 2 for the release, 8 for additional content.
  assert.equal(status, 2 | 8, stdout + stderr)
  assert.match(stdout + stderr, /openshift-client-linux\.tar\.gz: there is no such file/)
  assert.match(stdout + stderr, /has no boot image for nutanix \(x86_64\); for x86_64 it has vmware/)
  const listed = await run('files', 'ls', usb, '--json')
  assert.equal(listed.status, 1)
  assert.deepEqual(
    (JSON.parse(listed.stdout) as { name: string; state: string }[])
      .map(({ name, state }) => `${name} ${state}`)
      .sort(),
    [
      'boot-images-nutanix hole',
      'notes.txt here',
      'openshift-client-linux.tar.gz hole',
      'rhcos-418.9-vmware.x86_64.ova here',
    ],
  )
})

test('a boot image that the release does not have keeps no later archive from being loaded', async (t) => {
  const { usb, configure, toDisk, run } = await site(t)
  const { target, closed } = await closedSide(t)
  await configure(['nutanix'], [])
  assert.equal((await toDisk()).status, 2)
  await configure(['vmware'], [])
  succeeded(await toDisk())
  const loaded = await run('mirror', '--from', `file://${usb}`, ...closed, '--ignore-release-signature', target)
  succeeded(loaded)
  const listed = await run('files', 'ls', target, '--dest-tls-verify=false', '--json')
  assert.match(succeeded(listed), /rhcos-418\.9-vmware/)
})

test('a file and an image in one place are refused before anything moves', async (t) => {
  const { run, open, desk } = await site(t)
  const mirror = {
    additionalImages: [{ name: 'quay.io/tools/oc:v1' }],
    files: [{ path: 'notes.txt', targetRepo: 'tools/oc', targetTag: 'v1' }],
  }
  const text = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1', mirror }
  await writeFile(join(desk, 'isc.yaml'), JSON.stringify(text))
  const { status, stderr } = await run('mirror', '-c', 'isc.yaml', ...open, 'file://usb2')
  assert.equal(status, 78, stderr)
  assert.match(stderr, /Two images would be stored as .*tools\/oc:v1: quay\.io\/tools\/oc:v1 .* and sallyport\.invalid/)
})

test('a file that arrived damaged is fetched again from its URL, and nothing else', async (t) => {
  const { configure, files, run, open, toDisk, usb, web, desk } = await site(t)
  await configure(['vmware'], files)
  succeeded(await toDisk())
  const [volume = ''] = await readdir(usb)
  const bytes = await readFile(join(usb, volume))
  bytes.writeUInt8((ova[1000] ?? 0) ^ 1, bytes.indexOf(ova.subarray(1000, 1064)))
  await rm(usb, { recursive: true })
  const carried = join(desk, 'carried')
  await mkdir(carried)
  await writeFile(join(carried, volume), bytes)
  succeeded(await run('archive', 'verify', carried, '--repair-list', 'list.json'), 1)
  web.requests.length = 0
  const repair = ['mirror', '--repair', 'list.json', ...open]
  succeeded(await run(...repair, `file://${carried}`))
  assert.deepEqual(
    web.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /rhcos/rhcos-418.9-vmware.x86_64.ova'],
  )
  succeeded(await run('archive', 'repair', carried))
  succeeded(await run('files', 'get', carried, '--all', '--to', 'out/'))
  assert.deepEqual(await readFile(join(desk, 'out', 'rhcos-418.9-vmware.x86_64.ova')), ova)
})

test('a policy that rejects every image lets files pass: their checksum is what proves them', async (t) => {
  const { configure, files, run, open, desk } = await site(t)
  const { target } = await closedSide(t)
  await configure([], files)
  await writeFile(join(desk, 'policy.json'), '{"default":[{"type":"reject"}]}')
  const policy = ['--secure-policy', '--policy', 'policy.json', '--dest-tls-verify=false']
  const { status, stderr, stdout } = await run('mirror', '-c', 'isc.yaml', ...open, ...policy, target)
  assert.equal(status, 2, stdout + stderr)
  const listed = JSON.parse(
    succeeded(await run('files', 'ls', target, '--dest-tls-verify=false', '--json')),
  ) as object[]
  assert.equal(listed.length, 2)
})

test('a plan with files is carried out as it was made, by a command that names no configuration', async (t) => {
  const { configure, files, run, open } = await site(t)
  const { target } = await closedSide(t)
  await configure(['vmware'], files)
  const to = [...open, '--dest-tls-verify=false', target]
  succeeded(await run('mirror', '-c', 'isc.yaml', '--plan-only', 'plan.json', ...to))
  succeeded(await run('mirror', '--plan', 'plan.json', ...to))
  const listed = JSON.parse(
    succeeded(await run('files', 'ls', target, '--dest-tls-verify=false', '--json')),
  ) as object[]
  assert.equal(listed.length, 3)
})

test('files that are no longer wanted are deleted by the names that mirror knows', async (t) => {
  const { configure, files, run, open, desk } = await site(t)
  const { target } = await closedSide(t)
  await configure(['vmware'], files)
  const toTarget = ['mirror', '-c', 'isc.yaml', ...open, '--dest-tls-verify=false', target]
  succeeded(await run(...toTarget))
  const [, notes] = files
  const entries = [notes, { name: 'openshift-client-linux.tar.gz', targetTag: 'v4.18.9' }]
  const list = {
    kind: 'DeleteImageSetConfiguration',
    apiVersion: 'mirror.openshift.io/v2alpha1',
    delete: { files: entries },
  }
  await writeFile(join(desk, 'disc.yaml'), JSON.stringify(list))
  const deletion = ['--workspace', 'open', '--dest-tls-verify=false']
  const generated = succeeded(await run('delete', '--generate', '-c', 'disc.yaml', ...deletion, target))
  assert.match(generated, /2 additional/)
  const yaml = join('open', 'working-dir', 'delete', 'delete-images.yaml')
  succeeded(await run('delete', '--delete-yaml-file', yaml, ...deletion, target))
  const left = JSON.parse(succeeded(await run('files', 'ls', target, '--dest-tls-verify=false', '--json'))) as object[]
  assert.equal(left.length, 1)
})
