import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeCatalogImage } from '../../testkit/catalog-image.ts'
import { writeLayout } from '../../testkit/layout.ts'
import type { RebuildChildOptions, RebuildChildReport } from '../../testkit/rebuild-child.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const run = promisify(execFile)
const child = fileURLToPath(new URL('../../testkit/rebuild-child.ts', import.meta.url))

/** Runs the child under a umask and in a time zone. */
async function rebuild(
  t: TestContext,
  options: Omit<RebuildChildOptions, 'layout' | 'directory'>,
  { umask, zone }: { readonly umask: string; readonly zone: string } = { umask: '022', zone: 'UTC' },
): Promise<RebuildChildReport> {
  const [layout, directory] = [await tempDir(t), join(await tempDir(t), 'catalog')]
  await writeLayout(layout, [makeCatalogImage({ files: new Map([['old.json', '{}']]), tag: 'v1' })])
  const argument = JSON.stringify({ ...options, layout, directory } satisfies RebuildChildOptions)
  const script = `umask ${umask}; exec "$0" "$@"`
  const { stdout } = await run('/bin/sh', ['-c', script, process.execPath, child, argument], {
    env: { ...process.env, TZ: zone },
  })
  return JSON.parse(stdout)
}

test('other processes, other users and another order of the files make the same image', async (t) => {
  const size = { packages: 7, bundles: 5, bundleBytes: 3000 }
  const one = await rebuild(t, { ...size, isReversed: false })
  const other = await rebuild(t, { ...size, isReversed: true }, { umask: '077', zone: 'Asia/Kathmandu' })
  assert.equal(other.digest, one.digest)
  assert.equal(other.size, one.size)
})

test('a catalog of 200 MB is read, selected and packed in less than 300 MiB of memory', async (t) => {
  const report = await rebuild(t, { packages: 20, bundles: 100, bundleBytes: 100_000, isReversed: true })
  t.diagnostic(`${Math.round(report.maxRssMiB)} MiB`)
  assert.ok(report.maxRssMiB < 300, `${report.maxRssMiB} MiB`)
})
