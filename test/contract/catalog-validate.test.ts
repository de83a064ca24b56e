/** `catalog validate` and `opm validate` agree about every file of the data, and about what is made wrong on purpose. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { catalogFilesOfDirectory } from '../../src/catalog/catalog-files.ts'
import { checkCatalog } from '../../src/catalog/check-catalog.ts'
import { readCatalog } from '../../src/catalog/read-catalog.ts'
import { KnownError } from '../../src/errors/known-error.ts'
import { peer } from '../../testkit/peers.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const options = { skip: existsSync(join(data, 'catalogs/fbc')) ? false : 'the data is not here' }

/** What is wrong by our own judgement; empty where nothing is. */
async function ownJudgement(directory: string): Promise<string[]> {
  try {
    const findings = checkCatalog(await readCatalog(catalogFilesOfDirectory(directory)))
    return findings.flatMap(({ severity, summary }) => (severity === 'error' ? [summary] : []))
  } catch (error) {
    if (error instanceof KnownError) return [error.message]
    throw error
  }
}

function judgementOf(opm: string, directory: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(opm, ['validate', directory], (error, _, output) => resolve(error ? output || error.message : ''))
  })
}

async function directoryWith(t: Cleanup, name: string, content: Uint8Array | string): Promise<string> {
  const directory = await tempDir(t)
  await writeFile(join(directory, name), content)
  return directory
}

test('every file of the data is valid for both, or for neither', options, async (t) => {
  const opm = peer(t, 'opm')
  if (!opm) return
  const disagreements: string[] = []
  for (const file of await readdir(join(data, 'catalogs/fbc'))) {
    const bytes = await readFile(join(data, 'catalogs/fbc', file))
    const content = file.endsWith('.gz') ? gunzipSync(bytes) : bytes
    const directory = await directoryWith(t, basename(file, '.gz'), content)
    const [own, theirs] = [await ownJudgement(directory), await judgementOf(opm, directory)]
    if ((own.length === 0) !== (theirs === '')) disagreements.push(`${file}: ${own.join('; ')} | ${theirs}`)
  }
  assert.deepEqual(disagreements, [])
})

interface Sound {
  readonly entries: readonly object[]
  readonly bundles: readonly (readonly [name: string, version: string])[]
  readonly defaultChannel: string
}

const sound: Sound = {
  entries: [{ name: 'lamp.v1.1.0', replaces: 'lamp.v1.0.0' }, { name: 'lamp.v1.0.0' }],
  bundles: [
    ['lamp.v1.1.0', '1.1.0'],
    ['lamp.v1.0.0', '1.0.0'],
  ],
  defaultChannel: 'stable',
}

function textOf(changes: Partial<Sound>, more: readonly object[] = []): string {
  const { entries, bundles, defaultChannel } = { ...sound, ...changes }
  const metas = [
    { schema: 'olm.package', name: 'lamp', defaultChannel },
    { schema: 'olm.channel', package: 'lamp', name: 'stable', entries },
    ...bundles.map(([name, version]) => ({
      schema: 'olm.bundle',
      package: 'lamp',
      name,
      image: `quay.io/lab/${name}`,
      properties: [{ type: 'olm.package', value: { packageName: 'lamp', version } }],
    })),
    ...more,
  ]
  return metas.map((meta) => JSON.stringify(meta)).join('\n')
}

const stray = { reference: { schema: 'olm.bundle', name: 'lamp.v0.1.0' }, message: 'gone' }

const cases: Readonly<Record<string, string>> = {
  'a sound one': textOf({}),
  'several heads': textOf({ entries: [{ name: 'lamp.v1.1.0' }, { name: 'lamp.v1.0.0' }] }),
  'a circle': textOf({
    entries: [
      { name: 'lamp.v1.1.0', replaces: 'lamp.v1.0.0' },
      { name: 'lamp.v1.0.0', replaces: 'lamp.v1.1.0' },
    ],
  }),
  'an entry that nothing leads to': textOf({
    entries: [
      ...sound.entries.slice(1),
      { name: 'lamp.v1.1.0', replaces: 'lamp.v1.0.0', skips: ['lamp.v0.9.0'] },
      { name: 'lamp.v0.9.0', replaces: 'lamp.v0.8.0' },
      { name: 'lamp.v0.8.0' },
    ],
    bundles: [...sound.bundles, ['lamp.v0.9.0', '0.9.0'], ['lamp.v0.8.0', '0.8.0']],
  }),
  'an entry without a bundle': textOf({ bundles: sound.bundles.slice(0, 1) }),
  'a bundle in no channel': textOf({ bundles: [...sound.bundles, ['lamp.v0.1.0', '0.1.0']] }),
  'a version twice': textOf({
    bundles: [
      ['lamp.v1.1.0', '1.0.0'],
      ['lamp.v1.0.0', '1.0.0'],
    ],
  }),
  'no version': textOf({
    bundles: [
      ['lamp.v1.1.0', 'one'],
      ['lamp.v1.0.0', '1.0.0'],
    ],
  }),
  'a default channel that is not there': textOf({ defaultChannel: 'fast' }),
  'no default channel': textOf({ defaultChannel: '' }),
  'a deprecation of what is not there': textOf({}, [{ schema: 'olm.deprecations', package: 'lamp', entries: [stray] }]),
}

test('both refuse what is made wrong on purpose, and accept what is not', async (t) => {
  const opm = peer(t, 'opm')
  if (!opm) return
  for (const [what, text] of Object.entries(cases)) {
    const directory = await directoryWith(t, 'catalog.json', text)
    const own = await ownJudgement(directory)
    const theirs = await judgementOf(opm, directory)
    assert.equal(own.length === 0, what === 'a sound one', `${what}: ${own}`)
    assert.equal(theirs === '', what === 'a sound one', `${what}: ${theirs}`)
  }
})
