import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdir, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findArchives } from '../../src/archive/read/find-archives.ts'
import { filesInArchives } from '../../src/flows/files-in-archives.ts'
import { takeFile } from '../../src/flows/take-file.ts'
import { workspaceAt } from '../../src/mirror/workspace.ts'
import { carryToDisk } from '../../testkit/file-trip.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'

const size = 256 * 1024 * 1024

/** A file that takes no room, and a server for it. */
async function serveSparse(t: TestContext, cwd: string) {
  const path = join(cwd, 'sparse.raw')
  await writeFile(path, '')
  await truncate(path, size)
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-length': size, etag: '"sparse"' })
    if (request.method === 'HEAD') response.end()
    else createReadStream(path).pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sparse.raw`,
    sha256: hash.digest('hex'),
  }
}

test('a large file is never in memory as a whole, and never on disk a second time', async (t) => {
  const cwd = await tempDir(t)
  const entry = await serveSparse(t, cwd)
  const directory = join(cwd, 'usb')
  await mkdir(directory)
  const web = testWebClient(t).client
  const before = process.resourceUsage().maxRSS
  await carryToDisk({ entries: [entry], web, cwd, signal: t.signal, directory, volumeBytes: 1024 ** 3 })
  const { files, close } = await filesInArchives(await findArchives(directory))
  const to = join(cwd, 'out.raw')
  const [file] = files
  assert.ok(file?.content)
  assert.equal(await takeFile(file.content, to, { force: false, signal: t.signal }), 'written')
  await close()
  const grownMiB = (process.resourceUsage().maxRSS - before) / 1024
  assert.ok(grownMiB < 128, `${grownMiB.toFixed(0)} MiB more`)
  assert.equal((await stat(to)).size, size)
  await assert.rejects(stat(join(workspaceAt(cwd, '/').state, 'blobs')), { code: 'ENOENT' })
})
