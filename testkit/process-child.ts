/** Runs a script as the engine does and tells what it prints, for a test that kills it. `node process-child.ts DIR SCRIPT [REST-GRACE-MS]` */
import { systemClock } from '../src/host/clock.ts'
import { runProcess } from '../src/workflow/process/run-process.ts'

const [folder = '', script = '', restGraceMs = '300'] = process.argv.slice(2)
await runProcess(
  {
    argv: ['bash', '-c', script],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    cookie: `${folder}/step/1`,
    exitFile: `${folder}/exit`,
    graceMs: 2000,
    restGraceMs: Number(restGraceMs),
  },
  { clock: systemClock, onOutput: (chunk) => void process.stdout.write(chunk) },
)
