/**
 * What the engine itself costs: folding a long journal, and what it adds to a step.
 *
 * `node bench/engine.ts [--events 1000000] [--steps 200] [--runs 5]`. The journal is made here: steps that start, live, record
 * what they make, fail and succeed, as a long run has them. The steps do nothing, so that what is measured is the engine: its
 * journal with a flush before each step and after it, digests, directories, logs. The peer of the fold is `jq`, reading the same
 * lines and counting them by type; that of a step is `/bin/true`, started by bare `spawn`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/host/clock.ts'
import type { JournalEvent, RunEvent, StepOutline } from '../src/journal/events.ts'
import { runWorkflow } from '../src/workflow/engine.ts'
import { readJournal } from '../src/workflow/journal-file.ts'
import { endOrphans, processRunner } from '../src/workflow/process/process-runner.ts'
import { newRunId, runDirectory } from '../src/workflow/run-directory.ts'
import type { Workflow, WorkflowStep } from '../src/workflow/workflow.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { openRunSettings, placed } from '../testkit/workflow-run.ts'
import { Cleanups, median } from './measure.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    steps: { type: 'string', default: '200' },
    runs: { type: 'string', default: '5' },
  },
})
const limits = { foldSeconds: 2, stepMilliseconds: 20 }
const runs = Number(values.runs)

/** Thirty steps over and over: of ten events eight are signs of life. */
function* longJournal(count: number): Generator<JournalEvent> {
  const steps: StepOutline[] = Array.from({ length: 30 }, (_, index) => ({
    id: `0${index % 9}-stage/step-${index}`,
    title: `step ${index}`,
    phase: 'pre',
    groups: [`0${index % 9}-stage`],
  }))
  let n = 0
  const next = (event: RunEvent): JournalEvent => {
    n += 1
    return { n, at: 1_700_000_000_000 + n, ...event }
  }
  yield next({ type: 'run.created', format: 1, run: 'bench', workflow: 'bench', steps, version: '0' })
  yield next({ type: 'session.started', host: 'here', pid: 1, user: 'bench', asked: [] })
  for (let turn = 0; n < count; turn += 1) {
    const step = steps[turn % steps.length]?.id ?? ''
    const attempt = Math.floor(turn / steps.length) + 1
    const place = { step, attempt }
    yield next({
      type: 'step.started',
      ...place,
      inputs: `sha256:${'0'.repeat(64)}`,
      log: `logs/${step}/${attempt}.log`,
      why: 'it has not run yet',
    })
    const record = { kind: 'file', values: { path: `/tmp/made-${turn}` } }
    if (turn < 1000) yield next({ type: 'undo.recorded', ...place, undo: turn + 1, record })
    for (let beat = 0; beat < 8 && n < count - 1; beat += 1) {
      yield next({ type: 'step.heartbeat', ...place, note: 'copying blobs', done: beat, total: 8, unit: 'blobs' })
    }
    if (n < count) yield next({ type: 'step.succeeded', ...place, output: { done: turn } })
  }
}

async function writeJournal(path: string, count: number): Promise<void> {
  const file = createWriteStream(path)
  for (const event of longJournal(count)) if (!file.write(`${JSON.stringify(event)}\n`)) await once(file, 'drain')
  file.end()
  await once(file, 'finish')
}

async function secondsOf(action: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await action()
  return (performance.now() - from) / 1000
}

async function runProgram(program: string, args: readonly string[]): Promise<void> {
  const [status] = (await once(spawn(program, args, { stdio: 'ignore' }), 'exit')) as [number | null]
  if (status !== 0) throw new Error(`${program} ended with ${status}`)
}

function workflowOf(steps: readonly WorkflowStep[]): Workflow {
  return { name: 'bench', steps, observers: [], undo: {}, teardown: 'never', leases: [] }
}

async function millisecondsAStep(directory: string, make: (id: string) => WorkflowStep): Promise<number> {
  const count = Number(values.steps)
  const steps = Array.from({ length: count }, (_, index) => make(`step-${index}`))
  const settings = openRunSettings(directory, {})
  const host = {
    ...settings.host,
    processes: processRunner(systemClock),
    endOrphans: (cookie: string) => endOrphans(cookie, systemClock),
  }
  const run = runDirectory(directory, newRunId(systemClock.now()))
  const seconds = await secondsOf(async () => {
    const { outcome, why } = await runWorkflow(workflowOf(steps), run, { ...settings, host })
    if (outcome !== 'succeeded') throw new Error(why)
  })
  return (seconds * 1000) / count
}

const typed = (id: string) => placed(id, { apply: async () => ({}) })
const program = (id: string) =>
  placed(id, {
    apply: async (_, context) => {
      await context.exec({ argv: ['/bin/true'], env: {} })
      return {}
    },
  })

const print = (line: string) => void process.stdout.write(`${line}\n`)

const cleanups = new Cleanups()
try {
  const directory = await tempDir(cleanups)
  const journal = join(directory, 'journal.jsonl')
  const count = Number(values.events)
  await writeJournal(journal, count)
  const results = {
    fold: [] as number[],
    jq: [] as number[],
    typed: [] as number[],
    program: [] as number[],
    bare: [] as number[],
  }
  for (let round = 0; round < runs; round += 1) {
    results.fold.push(await secondsOf(() => readJournal(journal)))
    results.jq.push(
      await secondsOf(() => runProgram('jq', ['-n', 'reduce inputs as $e ({}; .[$e.type] += 1)', journal])),
    )
    results.typed.push(await millisecondsAStep(directory, typed))
    results.program.push(await millisecondsAStep(directory, program))
    results.bare.push(
      (await secondsOf(async () => {
        for (let i = 0; i < 50; i += 1) await runProgram('/bin/true', [])
      })) * 20,
    )
  }
  const { events, steps } = await readJournal(journal)
  if (events !== count || steps.size !== 30)
    throw new Error(`the journal folds to ${events} events, ${steps.size} steps`)
  const of = (times: readonly number[], digits: number) =>
    `${median(times).toFixed(digits)} (${Math.min(...times).toFixed(digits)}–${Math.max(...times).toFixed(digits)})`
  print(`| what | median of ${runs} (min–max) |\n|---|---|`)
  print(`| fold a journal of ${count} events, read from disk | ${of(results.fold, 2)} s |`)
  print(`| jq, the same lines counted by type | ${of(results.jq, 2)} s |`)
  print(`| a step of the engine that does nothing | ${of(results.typed, 2)} ms |`)
  print(`| a step of the engine that runs /bin/true | ${of(results.program, 2)} ms |`)
  print(`| /bin/true by bare spawn | ${of(results.bare, 2)} ms |`)
  const overhead = median(results.program) - median(results.bare)
  print(
    `\nfold: ${median(results.fold).toFixed(2)} s of ${limits.foldSeconds} s; a step: ${Math.max(overhead, median(results.typed)).toFixed(2)} ms of ${limits.stepMilliseconds} ms`,
  )
  if (median(results.fold) > limits.foldSeconds || overhead > limits.stepMilliseconds) process.exitCode = 1
} finally {
  await cleanups.run()
}
