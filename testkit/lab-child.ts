/**
 * Makes a lab with a server and a proxy, as a process of its own that can be killed. Arguments: id, directory, a file for undo
 * records (one JSON a line), and after how many of them it kills itself, 0 for never. It lives until its standard input ends.
 */
import { appendFileSync } from 'node:fs'
import { openLab } from '../src/provision/lab/open-lab.ts'
import { labHost, thisUser, webServer } from './lab.ts'

process.stdin.resume()
const [id = '', directory = '', journal = '', fatal = '0'] = process.argv.slice(2)
const lab = await openLab(labHost, { id, directory, mode: 'namespaces', user: thisUser })
const made = { count: 0 }
const making = {
  record: async (undo: unknown) => {
    appendFileSync(journal, `${JSON.stringify(undo)}\n`)
    made.count += 1
    if (made.count === Number(fatal)) process.kill(process.pid, 'SIGKILL')
    process.stdout.write(`${made.count}\n`)
  },
}
const { addresses } = await lab.makeNetwork(making)
const [outside = ''] = addresses.connected
const argv = webServer(outside, 80, 'hello')
await lab.serve({ site: 'connected', name: 'web', argv, env: {}, ports: [80] }, making)
await lab.makeBastion({ proxy: { port: 3128, username: 'user', password: 'secret' } }, making)
await lab.placeFiles([{ path: 'credentials/pull-secret.json', content: '{}' }], making)
