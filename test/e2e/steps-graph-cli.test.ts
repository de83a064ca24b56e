/** `sallyport steps graph` and `steps validate --lint` as processes. */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../../testkit/run-cli.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'

const files = {
  'conf/conf-ref.yaml':
    'ref:\n  as: conf\n  from: cli\n  commands: conf-commands.sh\n  grace_period: 600\n  resources:\n    requests:\n      cpu: 10m\n  documentation: Says what is wanted.\n',
  'conf/conf-commands.sh': 'true || ture\n',
  'install/install-ref.yaml':
    'ref:\n  as: install\n  from: cli\n  commands: install-commands.sh\n  resources:\n    requests:\n      cpu: 10m\n',
  'install/install-commands.sh': 'true\n',
  'whole/whole-chain.yaml': 'chain:\n  as: whole\n  steps:\n  - ref: conf\n  - ref: install\n',
  'ipi/ipi-workflow.yaml': 'workflow:\n  as: ipi\n  steps:\n    pre:\n    - chain: whole\n',
}

async function registry(t: Cleanup): Promise<string> {
  const root = await tempDir(t)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  return root
}

test('a workflow is drawn on standard output, or into a file', async (t) => {
  const cwd = await registry(t)
  const { status, stdout, stderr } = await runCli(['steps', 'graph', 'ipi', '--registry', '.'], { cwd })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[\s\S]*<\/svg>\n$/)
  assert.match(stdout, /Says what is wanted\./)
  const other = await runCli(['steps', 'graph', 'ipi', '--registry', '.', '-o', 'ipi.svg'], { cwd })
  assert.equal(other.stdout, 'ipi.svg: 2 steps\n')
  assert.equal(await readFile(join(cwd, 'ipi.svg'), 'utf8'), stdout)
})

test('Graphviz gets the boxes of the chains', async (t) => {
  const cwd = await registry(t)
  const args = ['steps', 'graph', 'ipi', '--registry', '.', '--format', 'dot']
  const { stdout } = await runCli(args, { cwd })
  assert.match(stdout, /^digraph workflow \{[\s\S]*subgraph cluster_1 \{\n\t\tlabel="Pre";[\s\S]*label="whole";/)
  const { text, ...rest } = JSON.parse((await runCli([...args, '--json'], { cwd })).stdout)
  assert.deepEqual(rest, { workflow: 'ipi', format: 'dot', steps: 2 })
  assert.equal(text, stdout)
})

test('a workflow that is not there is told by its name', async (t) => {
  const { status, stderr } = await runCli(['steps', 'graph', 'ipj', '--registry', await registry(t)])
  assert.equal(status, 1)
  assert.match(stderr, /no workflow named ipj/)
})

test('--lint finds what is no fault, by rule, and its errors make the exit status 1', async (t) => {
  const cwd = await registry(t)
  const plain = await runCli(['steps', 'validate', '--registry', '.'], { cwd })
  assert.equal(plain.status, 0, plain.stdout)
  const { status, stdout } = await runCli(['steps', 'validate', '--registry', '.', '--lint'], { cwd })
  assert.equal(status, 1)
  assert.match(
    stdout,
    /^steps\.duration-without-unit: .*: 1 error\n {2}conf\/conf-ref\.yaml:5: conf: grace_period is 600 nanoseconds\n/m,
  )
  assert.match(
    stdout,
    /^steps\.misspelled-command: .*: 1 error\n {2}conf\/conf-commands\.sh:1: conf: ture is no command; true is\n/m,
  )
  assert.match(stdout, /^valid: .*; lint: 2 errors, 0 warnings, 0 notes\n/)
  const { lint } = JSON.parse(
    (await runCli(['steps', 'validate', '--registry', '.', '--lint', '--json'], { cwd })).stdout,
  )
  assert.deepEqual(
    lint.map(({ id, where }: { id: string; where: { line: number } }) => [id, where.line]),
    [
      ['steps.duration-without-unit', 5],
      ['steps.misspelled-command', 1],
    ],
  )
})
