/** Runs a script in a sandbox and tells its process number outside, for a test that kills who started it. `node sandbox-child.ts DIR` */
import { join } from 'node:path'
import { openSandbox } from '../src/rehearse/sandbox/sandbox.ts'

const [directory = ''] = process.argv.slice(2)
const ready = async () => {
  process.stdout.write('ready\n')
  return 'exit 0\n'
}
const sandbox = await openSandbox({ directory, standIns: ['ready'], answer: ready })
const script = `: ${directory}; ready; while :; do :; done`
const options = { unit: 'u', workingDirectory: '/', env: {}, logFile: join(directory, 'log') }
await sandbox.run(['/usr/bin/bash', '-c', script], options).ended
