/** A step registry of a few scripts, and a workflow of them, for tests that run it. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

interface SmallStep {
  readonly name: string
  readonly script: string
  readonly phase?: 'pre' | 'test' | 'post'
  /** Parameters and their defaults. */
  readonly env?: Readonly<Record<string, string>>
  readonly grace?: string
}

/** The path of the registry; its workflow is called `small`, its steps `small-NAME`. */
export async function smallRegistry(directory: string, steps: readonly SmallStep[]): Promise<string> {
  const root = join(directory, 'registry')
  for (const { name, script, env = {}, grace = '2s' } of steps) {
    const folder = join(root, 'small', name)
    await mkdir(folder, { recursive: true })
    const parameters = Object.entries(env).map(([key, value]) => ({ name: key, default: value, documentation: key }))
    const ref = {
      as: `small-${name}`,
      from: 'cli',
      commands: `small-${name}-commands.sh`,
      resources: { requests: { cpu: '10m' } },
      grace_period: grace,
      env: parameters,
      documentation: name,
    }
    await writeFile(join(folder, `small-${name}-ref.yaml`), JSON.stringify({ ref }))
    await writeFile(join(folder, `small-${name}-commands.sh`), `#!/bin/bash\nset -eu\n${script}\n`)
  }
  const of = (phase: string) =>
    steps.filter((step) => (step.phase ?? 'pre') === phase).map(({ name }) => ({ ref: `small-${name}` }))
  const workflow = {
    as: 'small',
    steps: { pre: of('pre'), test: of('test'), post: of('post') },
    documentation: 'of a test',
  }
  await writeFile(join(root, 'small', 'small-workflow.yaml'), JSON.stringify({ workflow }))
  return root
}
