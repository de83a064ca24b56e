/** Runs a workflow of thirty steps as the command line does, for a test that kills it: `node engine-child.ts RUNS`. */
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { systemClock } from '../src/host/clock.ts'
import { runWorkflow } from '../src/workflow/engine.ts'
import { endOrphans, processRunner } from '../src/workflow/process/process-runner.ts'
import { runDirectory } from '../src/workflow/run-directory.ts'
import { defaultPolicy } from '../src/workflow/step.ts'
import type { Workflow, WorkflowStep } from '../src/workflow/workflow.ts'
import { runNameIn } from './run-name.ts'
import { openRunSettings, placed } from './workflow-run.ts'

export const forwardSteps = 30
const postSteps = 3

const [runs = ''] = process.argv.slice(2)

/** What steps do is written down beside the journal, by the steps themselves. */
const ledger = join(runs, 'ledger')
const resource = (id: string) => join(runs, `made-${id}`)
const Name = z.object({ name: z.string() })

/** Makes something, with a record of it, and says so; in this process. */
function typed(id: string, before: string | undefined): WorkflowStep {
  return placed(id, {
    from: (outputs) => (before === undefined ? {} : outputs(before, Name)),
    apply: async (_, context) => {
      await appendFile(ledger, `begin ${id} ${context.attempt}\n`)
      await context.record({ kind: 'file', values: { path: resource(id) } })
      await writeFile(resource(id), '')
      await appendFile(ledger, `end ${id} ${context.attempt}\n`)
      return { name: id }
    },
  })
}

/** The same as a script, which leaves a process behind. */
function script(id: string, before: string | undefined): WorkflowStep {
  const text = `
echo "begin ${id} $ATTEMPT" >>"$LEDGER"
sleep 1000 &
for i in 1 2 3; do echo "line $i"; sleep 0.01; done
echo "end ${id} $ATTEMPT" >>"$LEDGER"`
  return {
    ...placed(id, {
      from: (outputs) => (before === undefined ? {} : outputs(before, Name)),
      apply: async (_, context) => {
        await context.record({ kind: 'file', values: { path: resource(id) } })
        await writeFile(resource(id), '')
        const env = { PATH: process.env['PATH'], LEDGER: ledger, ATTEMPT: String(context.attempt) }
        const end = await context.exec({ argv: ['/bin/sh', '-ec', text], env })
        if (end.status !== 0) throw new Error(`ended with ${JSON.stringify(end)}`)
        return { name: id }
      },
    }),
    policy: { ...defaultPolicy, graceMs: 500 },
  }
}

function post(id: string): WorkflowStep {
  return placed(id, {
    phase: 'post',
    apply: async () => {
      await appendFile(ledger, `end ${id} 0\n`)
      return {}
    },
  })
}

function thirtySteps(): Workflow {
  const ids = Array.from({ length: forwardSteps }, (_, index) => `step-${index}`)
  const steps = ids.map((id, index) => (index % 2 === 0 ? typed : script)(id, ids[index - 1]))
  return {
    name: 'thirty',
    steps: [...steps, ...Array.from({ length: postSteps }, (_, index) => post(`post-${index}`))],
    observers: [],
    undo: {
      file: {
        describe: ({ path }) => `file ${String(path)}`,
        remove: ({ path }) => rm(String(path), { force: true }),
      },
    },
    teardown: 'always',
    leases: ['thirty'],
  }
}

if (import.meta.main) {
  const settings = openRunSettings(runs, {})
  const host = {
    ...settings.host,
    processes: processRunner(systemClock),
    endOrphans: (cookie: string) => endOrphans(cookie, systemClock),
  }
  const { outcome } = await runWorkflow(thirtySteps(), runDirectory(runs, runNameIn(runs)), { ...settings, host })
  process.exitCode = outcome === 'succeeded' ? 0 : 1
}
