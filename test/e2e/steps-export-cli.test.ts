/** `sallyport steps export` as a process, and what it wrote as another. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { runCli } from '../../testkit/run-cli.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'

const resources = '  resources:\n    requests:\n      cpu: 10m\n'

const files = {
  'conf/conf-ref.yaml': `ref:\n  as: conf\n  from: cli\n  commands: conf-commands.sh\n${resources}  env:\n  - name: ZONES\n    default: "2"\n  dependencies:\n  - name: release:latest\n    env: RELEASE\n`,
  'conf/conf-commands.sh': 'echo "$ZONES $RELEASE" > "$SHARED_DIR/conf"\n',
  'install/install-ref.yaml': `ref:\n  as: install\n  from: installer\n  commands: install-commands.sh\n  grace_period: 10m\n${resources}`,
  'install/install-commands.sh': 'cp "$SHARED_DIR/conf" "$ARTIFACT_DIR/"\n',
  'gather/gather-ref.yaml': `ref:\n  as: gather\n  from: cli\n  commands: gather-commands.sh\n  optional_on_success: true\n${resources}`,
  'gather/gather-commands.sh': 'echo gathered >> "$SHARED_DIR/conf"\n',
  'ipi/ipi-workflow.yaml':
    'workflow:\n  as: ipi\n  steps:\n    allow_skip_on_success: true\n    pre:\n    - ref: conf\n    - ref: install\n    post:\n    - ref: gather\n',
}

async function registry(t: Cleanup): Promise<string> {
  const root = await tempDir(t)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  return root
}

const command = ['steps', 'export', 'ipi', '--registry', '.']

test('the script that it writes runs, with the values that were given', async (t) => {
  const cwd = await registry(t)
  const args = [...command, '--to', 'shell', '-o', 'run.sh', '--env', 'ZONES=3', '--env', 'RELEASE=r@sha256:1']
  const { status, stdout, stderr } = await runCli(args, { cwd })
  assert.deepEqual([status, stdout], [0, 'run.sh: 3 steps\n'], stderr)
  execFileSync(join(cwd, 'run.sh'), [], { cwd, stdio: 'pipe' })
  assert.equal(await readFile(join(cwd, 'ipi-run/artifacts/002-install/conf'), 'utf8'), '3 r@sha256:1\n')
})

test('what is lost is told on standard error, and as findings', async (t) => {
  const cwd = await registry(t)
  const { status, stdout, stderr } = await runCli([...command, '--to', 'tekton', '--image', 'cli=r/cli:1'], { cwd })
  assert.equal(status, 0)
  assert.match(stderr, /6794[\s\S]*30 s \(install\)/)
  const kinds = parseAllDocuments(stdout).map((one) => one.get('kind'))
  assert.deepEqual(kinds, ['PersistentVolumeClaim', 'Pipeline', 'PipelineRun'])
  const { findings, text } = JSON.parse((await runCli([...command, '--to', 'jobs', '--json'], { cwd })).stdout)
  assert.deepEqual(
    findings.map(({ id }: { id: string }) => id),
    ['export.image-lost', 'export.driver'],
  )
  assert.match(text, /^#!\/bin\/bash\n/)
})

test('--from leaves out what stands before, and a name that is not there is told', async (t) => {
  const cwd = await registry(t)
  const { stdout } = await runCli([...command, '--to', 'shell', '--from', 'install'], { cwd })
  assert.doesNotMatch(stdout, /001-conf/)
  assert.match(stdout, /visit pre 002 002-install/)
  assert.match(
    (await runCli([...command, '--to', 'shell', '--from', 'nowhere'], { cwd })).stderr,
    /no step named nowhere/,
  )
  const { status, stderr } = await runCli([...command, '--to', 'shell', '--env', 'NOBODY=1'], { cwd })
  assert.equal(status, 1)
  assert.match(stderr, /parameter "NOBODY" is overridden/)
})
