/** What is left of a registry that was killed, raced, or given a full disk. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rmdir } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/host/clock.ts'
import { digestOf } from '../../src/oci/digest.ts'
import { BlobStore } from '../../src/store/blob-store.ts'
import { randomBytes } from '../../testkit/random-bytes.ts'
import { serveProcess } from '../../testkit/serve-process.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { wire } from '../../testkit/wire.ts'

const mebibyte = 1024 * 1024

/** Every blob in a store is exactly what its name says. Gives how many there are. */
async function requireProven(root: string): Promise<number> {
  const { paths } = await BlobStore.open(root, systemClock)
  const names = await readdir(join(paths.blobs, 'sha256')).catch(() => [])
  for (const hex of names) {
    const actual = createHash('sha256')
      .update(readFileSync(join(paths.blobs, 'sha256', hex)))
      .digest('hex')
    assert.equal(actual, hex)
  }
  assert.deepEqual(await readdir(paths.staging), [])
  return names.length
}

async function pushWhole(base: string, bytes: Uint8Array, agent?: Agent): Promise<number> {
  const options = { method: 'POST', body: bytes, ...(agent && { agent }) }
  return (await wire(`${base}/blobs/uploads/?digest=${digestOf(bytes)}`, options)).status
}

test('a registry killed at random moments serves only proven blobs after it, and keeps what it had acknowledged', async (t) => {
  const root = await tempDir(t)
  const bodies = Array.from({ length: 12 }, (_, index) => randomBytes(`crash ${index}`, 700_000 + index * 50_000))
  const acknowledged = new Set<string>()
  for (let round = 0; round < 6; round += 1) {
    const registry = await serveProcess(t, root)
    const base = `${registry.url}/v2/crash/test`
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    const pushes = bodies.map(async (bytes) => {
      const status = await pushWhole(base, bytes, agent).catch(() => 0)
      if (status === 201) acknowledged.add(digestOf(bytes))
      return status
    })
    // The moment differs from round to round by how many pushes have ended.
    await Promise.race([Promise.all(pushes), Promise.all(pushes.slice(0, round + 1))])
    await registry.stop('SIGKILL')
    await Promise.all(pushes)
    agent.destroy()
    await requireProven(root)
  }
  const registry = await testRegistry(t, { root })
  for (const digest of acknowledged)
    assert.equal((await wire(`${registry.url}/v2/crash/test/blobs/${digest}`, { method: 'HEAD' })).status, 200)
  for (const bytes of bodies) assert.equal(await pushWhole(`${registry.url}/v2/crash/test`, bytes), 201)
  assert.equal(await requireProven(root), bodies.length)
})

test('an upload goes on where it stood when the registry was killed', async (t) => {
  const root = await tempDir(t)
  const bytes = randomBytes('resume', 3 * mebibyte)
  const first = await serveProcess(t, root)
  const started = await wire(`${first.url}/v2/resume/blobs/uploads/`, { method: 'POST' })
  const path = started.headers.location ?? ''
  const sent = await wire(`${first.url}${path}`, { method: 'PATCH', body: bytes.subarray(0, mebibyte) })
  assert.equal(sent.headers.range, `0-${mebibyte - 1}`)
  // A second chunk is cut off in the middle.
  const outgoing = request(`${first.url}${path}`, { method: 'PATCH', headers: { 'Content-Length': 2 * mebibyte } })
  outgoing.on('error', () => undefined)
  await new Promise((resolve) => outgoing.write(bytes.subarray(mebibyte, 2 * mebibyte), resolve))
  await first.stop('SIGKILL')

  const second = await serveProcess(t, root)
  const status = await wire(`${second.url}${path}`)
  assert.equal(status.status, 204)
  const offset = Number(/^0-([0-9]+)$/.exec(String(status.headers.range))?.[1]) + 1
  assert.ok(offset >= mebibyte && offset <= 2 * mebibyte, `offset ${offset}`)
  const rest = {
    method: 'PUT',
    body: bytes.subarray(offset),
    headers: { 'Content-Range': `${offset}-${bytes.length - 1}` },
  }
  assert.equal((await wire(`${second.url}${path}?digest=${digestOf(bytes)}`, rest)).status, 201)
  assert.deepEqual((await wire(`${second.url}/v2/resume/blobs/${digestOf(bytes)}`)).body, bytes)
})

test('eight processes that write one blob leave one blob', async (t) => {
  const root = await tempDir(t)
  const script = `
    import { BlobStore } from ${JSON.stringify(new URL('../../src/store/blob-store.ts', import.meta.url).href)}
    import { systemClock } from ${JSON.stringify(new URL('../../src/host/clock.ts', import.meta.url).href)}
    import { digestOf } from ${JSON.stringify(new URL('../../src/oci/digest.ts', import.meta.url).href)}
    const bytes = Buffer.alloc(4_000_000, 'race')
    const store = await BlobStore.open(process.argv[1], systemClock)
    const descriptor = { mediaType: 'a/b', digest: digestOf(bytes), size: bytes.length }
    await store.put(descriptor, (async function* () { for (let i = 0; i < bytes.length; i += 65536) yield bytes.subarray(i, i + 65536) })(), 'race')
  `
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, root], { stdio: 'inherit' })
      const [status] = await once(child, 'exit')
      return status
    }),
  )
  assert.deepEqual(statuses, Array(8).fill(0))
  assert.equal(await requireProven(root), 1)
})

test('on a full disk a push is refused with the reason, nothing of it is visible, and its space is free again', async (t) => {
  const root = await smallDisk(t)
  if (root === undefined) return
  const { url } = await testRegistry(t, { root })
  const small = randomBytes('small', mebibyte)
  const large = randomBytes('large', 6 * mebibyte)
  const refused = await wire(`${url}/v2/full/blobs/uploads/?digest=${digestOf(large)}`, { method: 'POST', body: large })
  assert.equal(refused.status, 507)
  assert.equal(refused.errorCode(), 'DISK_FULL')
  const session = await wire(`${url}/v2/full/blobs/uploads/`, { method: 'POST' })
  assert.equal((await wire(`${url}${session.headers.location}`, { method: 'PATCH', body: large })).status, 507)
  assert.equal((await wire(`${url}/v2/full/blobs/${digestOf(large)}`, { method: 'HEAD' })).status, 404)
  assert.equal(await pushWhole(`${url}/v2/full`, small), 201)
  assert.equal(await requireProven(root), 1)
})

/** A directory with room for 4 MiB; undefined after the test was marked as skipped. */
async function smallDisk(t: TestContext): Promise<string | undefined> {
  const root = await mkdtemp(join(tmpdir(), 'sallyport-small-'))
  try {
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', root], { stdio: 'ignore' })
  } catch {
    await rmdir(root)
    t.skip('this user may not mount a small file system')
    return undefined
  }
  t.after(async () => {
    execFileSync('/usr/bin/umount', ['-l', root])
    await rmdir(root)
  })
  return root
}

test('Ctrl-C lets a push under way end, and leaves with status 0', async (t) => {
  const root = await tempDir(t)
  const registry = await serveProcess(t, root)
  const bytes = randomBytes('graceful', 2 * mebibyte)
  const url = `${registry.url}/v2/graceful/blobs/uploads/?digest=${digestOf(bytes)}`
  const outgoing = request(url, { method: 'POST', headers: { 'Content-Length': bytes.length } })
  await new Promise((resolve) => outgoing.write(bytes.subarray(0, mebibyte), resolve))
  // Answered on another connection, so the first request is being worked on by now.
  await wire(`${registry.url}/v2/`)
  const ended = registry.stop('SIGINT')
  outgoing.end(bytes.subarray(mebibyte))
  const [answer] = await once(outgoing, 'response')
  answer.resume()
  assert.equal(answer.statusCode, 201)
  assert.equal(await ended, 0)
})
