/** `sallyport run disconnected` on a lab: all ten stages, killed in the middle, gone on with, taken down with nothing left. */
import assert from 'node:assert/strict'
import { appendFile, readdir, readFile, rm, watch } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findByCookie } from '../../src/host/process-cookies.ts'
import type { JournalEvent } from '../../src/journal/events.ts'
import { remainsOfLab } from '../../src/provision/lab/lab-status.ts'
import { readJournal } from '../../src/workflow/journal-file.ts'
import { runIds } from '../../src/workflow/known-runs.ts'
import { runDirectory } from '../../src/workflow/run-directory.ts'
import { canHaveLab } from '../../testkit/lab.ts'
import { type LabSite, newLabSite } from '../../testkit/lab-site.ts'
import { peer } from '../../testkit/peers.ts'
import { runCli } from '../../testkit/run-cli.ts'

const seconds = 1000

async function onlyRun(runs: string): Promise<string> {
  const ids = await runIds(runs)
  assert.equal(ids.length, 1, `runs: ${ids.join(', ')}`)
  return ids[0] ?? ''
}

async function eventsOf(runs: string, run: string): Promise<readonly JournalEvent[]> {
  const text = await readFile(runDirectory(runs, run).journal, 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JournalEvent)
}

/** Kills the command as soon as its events tell that this step has begun. */
async function runUntil({ directory }: LabSite, step: string): Promise<void> {
  const kill = new AbortController()
  const over = new AbortController()
  const events = join(directory, 'events.ndjson')
  await appendFile(events, '')
  const changes = watch(events, { signal: AbortSignal.any([kill.signal, over.signal]) })
  const running = runCli(['run', 'disconnected', '--events', events], { cwd: directory, kill: kill.signal })
  void running.finally(() => over.abort())
  try {
    for await (const _ of changes) {
      if ((await readFile(events, 'utf8')).includes(`"step.started","step":"${step}"`)) kill.abort()
    }
  } catch (error) {
    if (!kill.signal.aborted && !over.signal.aborted) throw error
  }
  const { signal, stderr } = await running
  assert.equal(signal, 'SIGKILL', stderr)
}

test('all ten stages run on a lab, through two kills, and leave nothing behind', {
  timeout: 600 * seconds,
}, async (t) => {
  for (const name of ['skopeo', 'squid'] as const) if (peer(t, name) === undefined) return
  if (!canHaveLab(t)) return
  const site = await newLabSite(t, { name: 'demo', variant: 'disconnected' })

  await runUntil(site, '02-bastion/host')
  await runUntil(site, '06-mirror-images/load')
  const last = await runCli(['run', 'disconnected', '--json'], { cwd: site.directory })
  assert.equal(last.status, 0, last.stderr + last.stdout)
  assert.equal(JSON.parse(last.stdout).status, 'succeeded')

  const run = await onlyRun(site.runs)
  const events = await eventsOf(site.runs, run)
  const state = await readJournal(runDirectory(site.runs, run).journal)
  const forward = [...state.steps.values()].filter(({ outline }) => outline.phase !== 'post')
  assert.deepEqual(
    [...new Set(forward.map(({ outline }) => outline.groups[0]?.slice(0, 2)))],
    ['01', '02', '03', '04', '05', '06', '07', '08', '09'],
  )
  for (const { outline, status, attempts } of forward) {
    assert.equal(status, 'succeeded', outline.id)
    const wasKilled = outline.id === '02-bastion/host' || outline.id === '06-mirror-images/load'
    assert.equal(attempts.length, wasKilled ? 2 : 1, `${outline.id}: ${attempts.map(({ why }) => why).join('; ')}`)
  }
  const packets = state.steps.get('09-verify/packets')?.output as Record<string, unknown>
  assert.equal(packets['isProven'], true)
  assert.deepEqual([packets['left'], packets['forwarded']], [0, 0])
  assert.ok(Number(packets['inside']) > 1000, 'the nodes pulled through the network that is counted')
  const nodes = state.steps.get('08-install/nodes')?.output as Record<string, unknown>
  assert.ok(Number(nodes['images']) > 100)
  await secretsAreKept(site, run)

  const lab = labOf(events)
  assert.notDeepEqual(await remainsOfLab(lab), [], 'the lab stands until it is taken down')
  const more = await runCli(['run', 'disconnected', '--json'], { cwd: site.directory })
  assert.equal(JSON.parse(more.stdout).run, run, 'what stands is gone on with, and no second lab is begun')
  const down = await runCli(['run', 'teardown', run], { cwd: site.directory })
  assert.equal(down.status, 0, down.stderr + down.stdout)
  assert.deepEqual(await remainsOfLab(lab), [])
  assert.deepEqual(findByCookie(`${run}/`) ?? [], [])
  assert.deepEqual((await readdir(runDirectory(site.runs, run).root)).includes('lab'), false)
  const evidence = JSON.parse(
    await readFile(join(runDirectory(site.runs, run).root, 'artifacts/10-clean-up/evidence/evidence.json'), 'utf8'),
  )
  assert.equal(evidence.packets.leftPackets, 0)

  const again = await runCli(['run', 'teardown', run], { cwd: site.directory })
  assert.equal(again.status, 0, again.stderr + again.stdout)
})

test('a lab is taken down from the directory of its run alone', { timeout: 600 * seconds }, async (t) => {
  if (peer(t, 'squid') === undefined || !canHaveLab(t)) return
  const site = await newLabSite(t, { name: 'demo', variant: 'disconnected' })
  const some = await runCli(['run', 'disconnected', '--until', '02-bastion/host'], { cwd: site.directory })
  assert.equal(some.status, 0, some.stderr)
  const run = await onlyRun(site.runs)
  const lab = labOf(await eventsOf(site.runs, run))
  await rm(join(site.directory, 'sallyport.yaml'))
  const down = await runCli(['run', 'teardown', run], { cwd: site.directory })
  assert.equal(down.status, 0, down.stderr + down.stdout)
  assert.deepEqual(await remainsOfLab(lab), [])
  const log = await runCli(['logs', run, 'undo/2'], { cwd: site.directory })
  assert.match(log.stdout, /taking away network namespace .*\n.* removed\n/)
  assert.equal((await runCli(['logs', run, 'undo/99'], { cwd: site.directory })).status, 64)
})

function labOf(events: readonly JournalEvent[]): string {
  const made = events.find((event) => event.type === 'undo.recorded')
  assert.ok(made?.type === 'undo.recorded')
  return String(made.record.values['lab'])
}

/** Passwords that the run made stand in files of mode 0600 and nowhere else of what it wrote for people. */
async function secretsAreKept({ runs }: LabSite, run: string): Promise<void> {
  const { root, secrets } = runDirectory(runs, run)
  const names = (await readdir(secrets)).filter((name) => !name.startsWith('.'))
  assert.deepEqual(names.sort(), ['02-bastion%2Fhost.password', '03-credentials%2Fmirror.password'])
  const values = await Promise.all(names.map((name) => readFile(join(secrets, name), 'utf8')))
  const told = ['journal.jsonl', 'definition.json', 'logs', 'artifacts']
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !told.some((name) => path.startsWith(join(root, name)))) continue
    const text = await readFile(path, 'utf8')
    for (const value of values) {
      assert.ok(!text.includes(value), `${path} has a password`)
      assert.ok(!text.includes(Buffer.from(`admin:${value}`).toString('base64')), `${path} has a login`)
    }
  }
}
