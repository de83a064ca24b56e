/** Configurations as people have them: each loads, or is refused for a reason that somebody has looked at. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkConfiguration } from '../../src/config/check-configuration.ts'
import { convertToV2alpha1 } from '../../src/config/convert.ts'
import { readEitherKind } from '../../src/config/image-set-kinds.ts'
import { configurationJsonSchema } from '../../src/config/json-schema.ts'
import { KnownError } from '../../src/errors/known-error.ts'
import { complaintsOf } from './json-schema-check.ts'

const data = join(import.meta.dirname, '../../../shared/data')
const roots = ['imagesets', 'mirror/oc-mirror/isc']

interface Configuration {
  /** Relative to the folder of the data. */
  readonly file: string
  readonly text: string
}

/** All of them; undefined after the test was marked as skipped. */
async function configurations(t: TestContext): Promise<Configuration[] | undefined> {
  if (!roots.every((root) => existsSync(join(data, root)))) {
    t.skip('the configurations are not on this machine')
    return undefined
  }
  const lists = roots.map(async (root) => {
    const entries = await readdir(join(data, root), { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  })
  const paths = (await Promise.all(lists)).flat().sort()
  return Promise.all(
    paths.map(async (path) => ({ file: path.slice(data.length + 1), text: await readFile(path, 'utf8') })),
  )
}

/** The first line of what is said about it; undefined where it loads. */
function refusal(configuration: Configuration): string | undefined {
  try {
    readEitherKind(configuration)
    return undefined
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'CONFIG_INVALID') throw error
    return error.message.split('\n')[0]?.slice(configuration.file.length + 1)
  }
}

interface RefusedGroup {
  readonly why: string
  readonly refused: Readonly<Record<string, string>>
}

test('every configuration loads, but for those that are refused for a reason on the list', async (t) => {
  const all = await configurations(t)
  if (!all) return
  const listed = await readFile(join(import.meta.dirname, '../fixtures/refused-configurations.json'), 'utf8')
  const expected = Object.assign({}, ...(JSON.parse(listed) as RefusedGroup[]).map(({ refused }) => refused))
  const actual = Object.fromEntries(
    all.flatMap((configuration) => {
      const message = refusal(configuration)
      return message === undefined ? [] : [[configuration.file, message]]
    }),
  )
  assert.deepEqual(actual, expected)
  assert.ok(all.length - Object.keys(actual).length >= 300, 'most of them load')
})

test('whatever is said about a configuration is said of a place that is in it', async (t) => {
  for (const configuration of (await configurations(t)) ?? []) {
    const lines = configuration.text.split('\n')
    for (const { summary, where } of checkConfiguration(configuration)) {
      const line = lines[(where?.line ?? 0) - 1]
      assert.ok(line !== undefined, `${configuration.file}: line of ${summary}`)
      assert.ok(
        (where?.column ?? 0) >= 1 && (where?.column ?? 0) <= line.length + 1,
        `${configuration.file}: ${summary}`,
      )
    }
  }
})

test('every configuration that loads converts to v2alpha1, which loads without a word about old fields', async (t) => {
  for (const configuration of (await configurations(t)) ?? []) {
    if (refusal(configuration) !== undefined) continue
    const { text } = convertToV2alpha1(configuration)
    const again = convertToV2alpha1({ ...configuration, text })
    assert.ok(again.isUnchanged, configuration.file)
    // A file that said v2alpha1 before may spell its fields as it likes: it is left alone.
    const { findings } = readEitherKind({ ...configuration, text })
    if (text !== configuration.text) assert.deepEqual(findings, [], configuration.file)
  }
})

test('the JSON Schema takes every configuration that loads, written as v2alpha1', async (t) => {
  for (const configuration of (await configurations(t)) ?? []) {
    if (refusal(configuration) !== undefined) continue
    const loaded = readEitherKind({ ...configuration, text: convertToV2alpha1(configuration).text })
    // Fields in another case are read, but no editor should offer or accept them.
    if (loaded.findings.length > 0) continue
    const schema = configurationJsonSchema(loaded.configuration.kind)
    assert.deepEqual(complaintsOf(loaded.file.document.toJS(), schema), [], configuration.file)
  }
})
