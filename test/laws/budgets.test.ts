/** The size of things (CONTRIBUTING.md): what is larger than this hides a second noun. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { tempDir } from '../../testkit/temp-dir.ts'
import { isTest, repositoryRoot, shippedFiles, sourceFiles } from './source-files.ts'

const maxFileLines = 400
const maxTestLines = 600
const maxExportedValues = 5

/** Files that may be larger, each with its reason. */
const longFiles: Readonly<Record<string, string>> = {
  'src/errors/codes.ts': 'a table: one entry a code',
}

test('no file is longer than its budget', async () => {
  const files = (await Promise.all(['src', 'test', 'testkit', 'tools', 'bench'].map(sourceFiles))).flat()
  const broken = files.flatMap((file) => {
    const lines = file.text.split('\n').length - 1
    const isLong = lines > (file.path.startsWith('test/') || isTest(file) ? maxTestLines : maxFileLines)
    return isLong && !longFiles[file.path] ? [`${file.path}: ${lines} lines`] : []
  })
  assert.deepEqual(broken, [])
})

/** Files that may export more, each with its reason. */
const wideFiles: Readonly<Record<string, string>> = {
  'src/oci/digest.ts': 'one noun and its predicates',
  'src/oci/media-type.ts': 'one table and its predicates',
}

test('no file exports more than five values', async () => {
  const broken = (await shippedFiles()).flatMap(({ path, text }) => {
    const count = text.match(/^export (?:async )?(?:const|function\*?|class)\b/gm)?.length ?? 0
    const isWide = count > maxExportedValues && !path.startsWith('src/public/')
    return isWide && !wideFiles[path] ? [`${path}: ${count} values`] : []
  })
  assert.deepEqual(broken, [])
})

interface BiomeReport {
  readonly diagnostics: readonly { readonly category: string; readonly location: BiomeLocation }[]
}

interface BiomeLocation {
  readonly path: string | { readonly file: string }
  readonly start?: { readonly line: number }
}

/** Functions are measured by the parser that also formats them. */
async function biomeFindings(rule: string, options: object, folder: string): Promise<string[]> {
  const rules = { recommended: false, complexity: { [rule]: { level: 'error', options } } }
  const config = join(folder, 'biome.json')
  await writeFile(config, JSON.stringify({ linter: { rules }, files: { includes: ['**/*.ts', '!**/*.test.ts'] } }))
  const biome = join(repositoryRoot, 'node_modules', '.bin', 'biome')
  const args = [
    'lint',
    `--config-path=${config}`,
    '--reporter=json',
    '--max-diagnostics=none',
    'src',
    'testkit',
    'tools',
  ]
  const stdout = await promisify(execFile)(biome, args, { cwd: repositoryRoot }).then(
    (result) => result.stdout,
    (error: { stdout?: string }) => error.stdout ?? '',
  )
  const report = JSON.parse(stdout) as BiomeReport
  return report.diagnostics.map(({ category, location: { path, start } }) => {
    assert.equal(category, `lint/complexity/${rule}`)
    return `${typeof path === 'string' ? path : path.file}:${start?.line ?? ''}`
  })
}

test('no function is longer than 70 lines', async (t) => {
  assert.deepEqual(await biomeFindings('noExcessiveLinesPerFunction', { maxLines: 70 }, await tempDir(t)), [])
})

test('no function takes more than three parameters, and then its options or its signal', async (t) => {
  const findings = await biomeFindings('useMaxParams', { max: 3 }, await tempDir(t))
  const sources = (await Promise.all(['src', 'testkit', 'tools'].map(sourceFiles))).flat()
  const broken = findings.filter((place) => {
    const [path, line] = place.split(':')
    const lines = sources.find((file) => file.path === path)?.text.split('\n') ?? []
    const [parameters = ''] = lines
      .slice(Number(line) - 1)
      .join('\n')
      .split(/\)(?::| =>| \{)/)
    return !/,\s*(?:signal|options)\b[^,]*,?\s*$/.test(parameters)
  })
  assert.deepEqual(broken, [])
})
