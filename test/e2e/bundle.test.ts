/** What ships is the bundle: the library that it loads on demand must be in it, and whole. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { version } from '../../src/cli/version.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

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
