/** What an administrator's day does to a lab that stands: things disappear, bytes change. The next session notices, and mends no more than that. */
import assert from 'node:assert/strict'
import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { signalProcess } from '../../src/host/processes.ts'
import { labAddresses } from '../../src/provision/lab/lab-addresses.ts'
import { must } from '../../src/provision/lab/lab-programs.ts'
import { readLabRecord } from '../../src/provision/lab/lab-record.ts'
import { markedProcesses } from '../../src/provision/lab/marked-processes.ts'
import { runIds } from '../../src/workflow/known-runs.ts'
import { canHaveLab, labHost } from '../../testkit/lab.ts'
import { newLabSite } from '../../testkit/lab-site.ts'
import { peer } from '../../testkit/peers.ts'
import { runCli } from '../../testkit/run-cli.ts'

const seconds = 1000

/** Changes one byte in the middle. */
async function damage(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    const at = Math.floor((await handle.stat()).size / 2)
    const byte = Buffer.alloc(1)
    await handle.read(byte, 0, 1, at)
    await handle.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at)
  } finally {
    await handle.close()
  }
}

async function largestIn(directory: string): Promise<string> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const sized = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    return { path, size: (await stat(path)).size }
  })
  const [largest] = (await Promise.all(sized)).sort((one, other) => other.size - one.size)
  return largest?.path ?? ''
}

test('what disappears is made again and nothing else; a damaged byte is named by the step that is for it', {
  timeout: 600 * seconds,
}, async (t) => {
  if (peer(t, 'squid') === undefined || !canHaveLab(t)) return
  const { directory: cwd } = await newLabSite(t, { name: 'flt', variant: 'registry-only' })
  const first = await runCli(['run', 'disconnected'], { cwd })
  assert.equal(first.status, 0, first.stdout + first.stderr)
  const [run = ''] = await runIds(join(cwd, '.sallyport', 'runs'))
  const lab = join(cwd, '.sallyport', 'runs', run, 'lab')
  const resume = (...words: string[]) => runCli(['resume', ...words], { cwd })
  const id = `flt-${run.slice(-4)}`

  await must(labHost, ['ip', 'netns', 'delete', `sallyport-${id}-closed`])
  const server = (await markedProcesses(id)).find(({ name }) => name === 'mirror')
  assert.ok(server)
  signalProcess(server.pid, 'SIGKILL')
  const mended = await resume()
  assert.equal(mended.status, 0, mended.stdout + mended.stderr)
  const done = [...mended.stderr.matchAll(/ done +(\d\S+)/g)].map(([, step]) => step)
  assert.deepEqual(done, ['01-infrastructure/network', '05-mirror-registry/serve', '09-verify/packets'])

  await damage(await largestIn(join(lab, 'mirror', 'blobs')))
  const verified = await resume('--rerun', '09-verify/mirror')
  assert.equal(verified.status, 1)
  assert.match(verified.stdout, /09-verify\/mirror: .* blob sha256:[0-9a-f]{64} has other bytes/)
  assert.match(verified.stdout, new RegExp(`sallyport resume ${run} --rerun 06-mirror-images/load`))
  const again = await resume('--rerun', '06-mirror-images/load')
  assert.equal(again.status, 0, again.stdout + again.stderr)

  await damage(await largestIn(join(lab, 'archive')))
  const arrived = await resume('--rerun', '06-mirror-images/arrive')
  assert.equal(arrived.status, 1)
  assert.match(arrived.stdout, /06-mirror-images\/arrive: .*sallyport-v1-000001-0001.tar/)
  assert.match(arrived.stdout, new RegExp(`rm -r ${join(lab, 'archive')}, and sallyport resume ${run} --rerun`))
  await rm(join(lab, 'archive'), { recursive: true })
  const collected = await resume('--rerun', '06-mirror-images/collect')
  assert.equal(collected.status, 0, collected.stdout + collected.stderr)

  const file = join(cwd, 'sallyport.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace(':8443/', ':9443/'))
  const moved = await resume()
  assert.equal(moved.status, 0, moved.stdout + moved.stderr)
  const conf = await readFile(join(lab, 'workspace', 'mirror.flt.lab.test-9443-ocp', 'node-registries.conf'), 'utf8')
  assert.ok(conf.includes(':9443/') && !conf.includes(':8443/'), 'nodes are not led to the mirror that was')

  const { closed, bastionOutside } = labAddresses((await readLabRecord(lab))?.subnet ?? 0)
  const outside = ['ip', 'netns', 'exec', `sallyport-${id}-connected`]
  await must(labHost, [...outside, 'ip', 'route', 'add', `${closed}/32`, 'via', bastionOutside])
  const send = `const socket = require('dgram').createSocket('udp4'); socket.send('x', 80, '${closed}', () => socket.close())`
  await must(labHost, [...outside, process.execPath, '-e', send])
  const counted = await resume('--rerun', '09-verify/packets')
  assert.equal(counted.status, 1)
  assert.match(counted.stdout, /: 09-verify\/packets: 1 packets were for the bastion to pass on$/m)
})
