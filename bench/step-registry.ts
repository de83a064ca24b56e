/**
 * What it takes to load the step registry of openshift/release and to resolve every workflow of it.
 *
 * `node bench/step-registry.ts [--registry DIR] [--runs N]`: whole, cold processes. Without --registry the one of July 2024
 * beside this repository: 1,487 steps, 778 chains, 978 workflows, of which only the YAML is there; every step gets a script of 1,866
 * bytes, the median of those that it had. The peer is Python with the YAML parser that is written in C: it only parses the same
 * files and reads the same scripts, and checks and resolves nothing.
 */
import { execFile } from 'node:child_process'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { tempDir } from '../testkit/temp-dir.ts'
import { Cleanups, type Contender, measureInTurn, measureTable, median } from './measure.ts'

const here = fileURLToPath(new URL('..', import.meta.url))
const standard = join(here, '../shared/data/step-registry/full-2024-07/ci-operator/step-registry')
const { values } = parseArgs({
  options: { registry: { type: 'string', default: standard }, runs: { type: 'string', default: '7' } },
})
const scriptBytes = 1866
const limits = { wallSeconds: 1.5, peakMiB: 300 }

const peerProgram = `
import os, sys, yaml
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), 'rb') as file:
            text = file.read()
        if name.endswith('.yaml'):
            yaml.load(text, Loader=yaml.CSafeLoader)
`

/** Each reference and observer gets the script that it names, where it has none. */
async function addScripts(root: string): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const script = '# one line of a script, as long as many are\n'.repeat(60).slice(0, scriptBytes)
  for (const { name, parentPath } of entries) {
    if (!/-(?:ref|observer)\.yaml$/.test(name)) continue
    const file = join(parentPath, name)
    const [, commands] = /^ *commands: *["']?([\w.-]+)/m.exec(await readFile(file, 'utf8')) ?? []
    if (commands !== undefined)
      await writeFile(join(dirname(file), commands), script, { flag: 'wx' }).catch(() => undefined)
  }
}

const cleanups = new Cleanups()
try {
  const work = await tempDir(cleanups)
  const root = join(work, 'registry')
  await cp(values.registry, root, { recursive: true })
  await addScripts(root)
  await promisify(execFile)(process.execPath, [join(here, 'tools/build.ts'), join(work, 'dist')], { cwd: here })
  const flags = ['--max-semi-space-size=8', '--heap-growing-percent=15']
  const validate = [
    process.execPath,
    ...flags,
    join(work, 'dist/sallyport.js'),
    'steps',
    'validate',
    '--registry',
    root,
  ]
  const hasPeer = await promisify(execFile)('python3', ['-c', 'import yaml; yaml.CSafeLoader']).then(
    () => true,
    () => false,
  )
  const contenders: readonly Contender[] = [
    { name: 'sallyport steps validate', command: validate },
    { name: 'the same, --without-scripts', command: [...validate, '--without-scripts'] },
    ...(hasPeer
      ? [{ name: 'python3, PyYAML CSafeLoader: parsing only', command: ['python3', '-c', peerProgram, root] }]
      : []),
  ]
  const results = await measureInTurn(contenders, Number(values.runs))
  process.stdout.write(measureTable(results))
  const own = results.get('sallyport steps validate') ?? []
  const isSlow = median(own.map(({ wallSeconds }) => wallSeconds)) > limits.wallSeconds
  const isLarge = median(own.map(({ peakMiB }) => peakMiB)) > limits.peakMiB
  if (isSlow || isLarge) process.exitCode = 1
} finally {
  await cleanups.run()
}
