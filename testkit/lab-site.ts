import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { runIds } from '../src/workflow/known-runs.ts'
import { runCli } from './run-cli.ts'
import { tempDir } from './temp-dir.ts'

export interface LabSite {
  readonly directory: string
  readonly runs: string
}

/** A directory with a sallyport.yaml; whatever a run leaves is taken down when the test ends, however it ends. */
export async function newLabSite(
  t: TestContext,
  { name, variant }: { readonly name: string; readonly variant: 'disconnected' | 'registry-only' },
): Promise<LabSite> {
  // Before the directory is made: what is to be done at the end is done in the order in which it was said.
  const made: { site?: LabSite } = {}
  t.after(async () => {
    const { directory = '', runs = '' } = made.site ?? {}
    for (const run of await runIds(runs)) await runCli(['run', 'teardown', run], { cwd: directory })
  })
  const directory = await tempDir(t)
  const site = { directory, runs: join(directory, '.sallyport', 'runs') }
  made.site = site
  const place = ['--name', name, '--base-domain', 'lab.test', '--registry', `mirror.${name}.lab.test:8443/ocp`]
  const words = ['init', '--platform', 'lab', '--variant', variant, ...place, '--yes']
  const { status, stderr } = await runCli(words, { cwd: directory })
  assert.equal(status, 0, stderr)
  return site
}
