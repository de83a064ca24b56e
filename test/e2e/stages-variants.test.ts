/** Every variant of a site runs to its end on a lab. One of them, by chance, in CI; all with SALLYPORT_VARIANTS=all. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stringify } from 'yaml'
import { canHaveLab } from '../../testkit/lab.ts'
import { peer } from '../../testkit/peers.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const mirror = { registry: 'mirror.demo.lab.test:8443/ocp' }
const proxy = { url: 'http://proxy.demo.lab.test:3128' }

interface Variant {
  readonly name: string
  readonly site: object
  /** Stages that are no part of it. */
  readonly without: readonly string[]
}

const variants: readonly Variant[] = [
  { name: 'disconnected', site: { variant: 'disconnected', mirror, cluster: {} }, without: [] },
  { name: 'private with a mirror', site: { variant: 'private', mirror, cluster: {} }, without: [] },
  {
    name: 'private without a mirror',
    site: { variant: 'private', cluster: {}, proxy },
    without: ['03-credentials', '05-mirror-registry', '06-mirror-images'],
  },
  {
    name: 'registry-only',
    site: { variant: 'registry-only', mirror },
    without: ['04-tools', '07-prepare', '08-install'],
  },
  {
    name: 'proxy-only',
    site: { variant: 'proxy-only', proxy, cluster: {} },
    without: ['03-credentials', '05-mirror-registry', '06-mirror-images'],
  },
]

interface StepShown {
  readonly step: string
  readonly status: string
  readonly phase: string
}

function chosen(): readonly Variant[] {
  if (process.env['SALLYPORT_VARIANTS'] === 'all') return variants
  // Another one each day, and the same for all who run it that day.
  const day = Math.floor(Date.now() / 86_400_000)
  return variants.filter((_, index) => index === day % variants.length)
}

for (const { name, site, without } of chosen()) {
  test(`${name} runs to its end on a lab, and is taken down`, { timeout: 600_000 }, async (t) => {
    for (const each of ['skopeo', 'squid'] as const) if (peer(t, each) === undefined) return
    if (!canHaveLab(t)) return
    const directory = await labSite(t, site)
    const run = await runCli(['run', 'disconnected', '--json'], { cwd: directory })
    assert.equal(run.status, 0, run.stdout + run.stderr)
    const { steps } = JSON.parse((await runCli(['run', 'show', '--json'], { cwd: directory })).stdout)
    for (const { step, status, phase } of steps as readonly StepShown[]) {
      const isPart = !without.some((stage) => step.startsWith(stage))
      const isProof = step.startsWith('09-verify') || step.endsWith('/rehearse')
      if (!isPart) assert.equal(status, 'skipped', step)
      else if (phase !== 'post' && !isProof) assert.equal(status, 'succeeded', step)
    }
    const down = await runCli(['run', 'teardown'], { cwd: directory })
    assert.equal(down.status, 0, down.stdout + down.stderr)
  })
}

async function labSite(t: TestContext, site: object): Promise<string> {
  const made = { directory: '' }
  // Before the directory goes, which the teardown needs: what is said first is done first.
  t.after(() => made.directory !== '' && runCli(['run', 'teardown'], { cwd: made.directory }))
  made.directory = await tempDir(t)
  const place = { kind: 'Site', name: 'demo', baseDomain: 'lab.test', platform: { lab: { nodes: 1 } } }
  const text = stringify({ ...place, release: { version: '4.18.9' }, ...site }, { aliasDuplicateObjects: false })
  await writeFile(join(made.directory, 'sallyport.yaml'), text)
  return made.directory
}
