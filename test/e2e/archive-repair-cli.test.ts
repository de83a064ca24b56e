/** Mending from the command line, on both sides of the gap. */
import assert from 'node:assert/strict'
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseRepairList } from '../../src/archive/repair/repair-list.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { imageSetText, releaseName, startUpstream } from '../../testkit/upstream.ts'

/** An archive in several volumes, written by the command, and the arguments that the command needs on this side. */
async function writtenArchive(t: TestContext) {
  const upstream = await startUpstream(t, { release: { sharedLayerBytes: 7_000_000 } })
  const workspace = await tempDir(t)
  const directory = await tempDir(t)
  const config = join(workspace, 'isc.yaml')
  await writeFile(config, imageSetText({ release: releaseName(upstream.release), additional: upstream.additional }))
  const side = [
    '--workspace',
    `file://${workspace}`,
    '--registries-conf',
    upstream.registriesConf,
    '--src-tls-verify=false',
  ]
  const volume = ['--archive-size', '10MiB']
  const written = await runCli([
    'mirror',
    '-c',
    config,
    `file://${directory}`,
    '--ignore-release-signature',
    ...side,
    ...volume,
  ])
  assert.equal(written.status, 0, written.stderr)
  const volumes = (await readdir(directory)).filter((file) => file.endsWith('.tar')).sort()
  return { directory, side, volumes, read: (file = '') => readFile(join(directory, file)) }
}

test('parity is made, mends what is lost, and says when it is not enough', async (t) => {
  const { directory, volumes, read } = await writtenArchive(t)
  assert.ok(volumes.length >= 3, `${volumes}`)
  const [first = '', second = '', third = ''] = volumes
  const made = await runCli(['archive', 'parity', directory, '--volumes', '1'])
  assert.equal(made.status, 0, made.stderr)
  assert.match(made.stdout, /1 parity volume, .*\n {2}sallyport-v1-000001-parity-01\.tar/)
  const original = await read(first)
  await rm(join(directory, first))
  assert.equal((await runCli(['archive', 'verify', directory])).status, 1)
  const mended = await runCli(['archive', 'repair', directory])
  assert.equal(mended.status, 0, mended.stdout)
  assert.match(
    mended.stdout,
    /^whole: sallyport-v1-000001: .*\n {2}sallyport-v1-000001-0001\.tar: made again from parity/,
  )
  assert.ok(original.equals(await read(first)))
  for (const file of [second, third]) await rm(join(directory, file))
  const lost = await runCli(['archive', 'repair', directory])
  assert.equal(lost.status, 1)
  assert.match(lost.stdout, /parity is not enough for .*\n(.*\n)*next: sallyport archive verify .* --repair-list FILE/)
  const refused = await runCli(['archive', 'parity', directory])
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /is damaged: parity of it would keep the damage/)
})

test('a list goes to the connected side, its answer comes back, and the archive is whole', async (t) => {
  const { directory, side, volumes, read } = await writtenArchive(t)
  const [, second = ''] = volumes
  const original = await read(second)
  const list = join(await tempDir(t), 'missing.json')
  const nothing = await runCli(['archive', 'verify', directory, '--repair-list', list])
  assert.equal(nothing.status, 0)
  assert.match(nothing.stderr, /nothing has to be carried again/)
  await truncate(join(directory, second), 3_000_000)
  const verified = await runCli(['archive', 'verify', directory, '--repair-list', list])
  assert.equal(verified.status, 1)
  assert.match(verified.stderr, /asks for \d+ blobs? .* of archive 1/)
  const asked = parseRepairList(await readFile(list, 'utf8'), list)
  assert.ok(asked.bytes > 0 && asked.records.length === 0)

  const repaired = await runCli(['mirror', '--repair', list, `file://${directory}`, ...side])
  assert.equal(repaired.status, 0, repaired.stderr)
  const beside = await runCli(['archive', 'verify', directory])
  assert.equal(beside.status, 0, beside.stdout)
  assert.match(beside.stdout, /^repaired: archive 1, /)
  const mended = await runCli(['--json', 'archive', 'repair', directory])
  assert.equal(mended.status, 0, mended.stderr)
  assert.ok(original.equals(await read(second)))
  for (const file of await readdir(directory)) if (file.includes('-repair-')) await rm(join(directory, file))
  assert.match((await runCli(['archive', 'verify', directory])).stdout, /^whole: archive 1, /)
})
