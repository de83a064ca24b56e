/** What ships is the bundle: the library that it loads on demand must be in it, and whole. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { version } from '../../src/cli/version.ts'
import { digestOf } from '../../src/oci/digest.ts'
import { randomBytes } from '../../testkit/random-bytes.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { wire } from '../../testkit/wire.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

async function bundle(t: TestContext): Promise<string> {
  const outdir = await tempDir(t)
  // The files are ES modules; beside them there is no package.json that says so.
  await run(process.execPath, ['tools/build.ts', join(outdir, 'dist')], { cwd: root })
  await writeFile(join(outdir, 'package.json'), '{"type":"module"}')
  return join(outdir, 'dist', 'sallyport.js')
}

test('the bundle runs where nothing else of the package is', async (t) => {
  const { stdout } = await run(process.execPath, [await bundle(t), '--version'])
  assert.equal(stdout, `${version}\n`)
})

test('every part of the bundle loads: one that is needed late must not be broken until then', async (t) => {
  const main = await bundle(t)
  const names = (await readdir(join(main, '..'))).filter((name) => name.endsWith('.js') && name !== 'sallyport.js')
  const urls = names
    .filter((name) => name !== 'hash-worker.js')
    .map((name) => pathToFileURL(join(main, '..', name)).href)
  const script = `for (const url of ${JSON.stringify(urls)}) await import(url); console.log('all')`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  assert.equal(stdout, 'all\n')
  assert.ok(urls.length > 20, `${urls.length} parts`)
})

test('the bundled registry makes its certificate and serves with it', async (t) => {
  const store = await tempDir(t)
  const args = [await bundle(t), 'registry', 'serve', '--root', store, '--listen', '127.0.0.1:0', '--self-signed']
  const registry = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => registry.kill('SIGKILL'))
  const said: string[] = []
  for (const stream of [registry.stdout, registry.stderr])
    createInterface({ input: stream }).on('line', (line) => said.push(line))
  const [first] = await Promise.race([
    once(registry.stdout, 'data'),
    once(registry.stderr, 'data'),
    once(registry, 'exit'),
  ])
  assert.match(String(first), /https:\/\/127\.0\.0\.1:\d+/, said.join('\n'))
  assert.match(await readFile(join(store, 'tls', 'ca.crt'), 'utf8'), /BEGIN CERTIFICATE/)
})

test('the bundled registry finds its hash thread', { skip: process.platform !== 'linux' }, async (t) => {
  const args = [await bundle(t), '--json', 'registry', 'serve', '--root', await tempDir(t), '--listen', '127.0.0.1:0']
  const registry = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => registry.kill('SIGKILL'))
  const [line] = await once(createInterface(registry.stdout), 'line')
  const body = randomBytes('bundle', 9 * 1024 * 1024)
  const url = `${JSON.parse(line).url}/v2/bundle/blobs/uploads/?digest=${digestOf(body)}`
  assert.equal((await wire(url, { method: 'POST', body })).status, 201)
  const tasks = `/proc/${registry.pid}/task`
  const names = await Promise.all((await readdir(tasks)).map((task) => readFile(`${tasks}/${task}/comm`, 'utf8')))
  assert.ok(names.includes('hash\n'), `threads: ${names}`)
})
