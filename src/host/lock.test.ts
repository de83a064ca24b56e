import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../testkit/running-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { acquireLock } from './lock.ts'
import { processStat } from './process-stat.ts'

const lockFile = new URL('./lock.ts', import.meta.url).href

/** Another process that takes the lock, says whether it has it, and keeps it until it is killed. */
async function other(t: TestContext, path: string) {
  const code = `import { acquireLock } from ${JSON.stringify(lockFile)}
    await acquireLock(process.argv[1]).then(() => console.log('held'), (error) => console.log(error.code))
    setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [said] = await once(child.stdout, 'data')
  const kill = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { said: String(said).trim(), pid: child.pid ?? 0, kill }
}

async function lockPath(t: TestContext): Promise<string> {
  return join(await tempDir(t), 'deep', 'lock')
}

test('a lock that another process holds is refused by its process id, and taken over when that was killed', async (t) => {
  const path = await lockPath(t)
  const holder = await other(t, path)
  assert.equal(holder.said, 'held')
  await assert.rejects(acquireLock(path), {
    code: 'STORE_LOCKED',
    message: `Process ${holder.pid} is at work in ${dirname(path)}`,
  })
  await holder.kill()
  const release = await acquireLock(path)
  assert.equal((await other(t, path)).said, 'STORE_LOCKED')
  await release()
  assert.equal((await other(t, path)).said, 'held')
})

test('the lock of a process whose number another one has by now is taken over', async (t) => {
  const path = await lockPath(t)
  const release = await acquireLock(path)
  const [pid, start] = (await readFile(path, 'utf8')).split(' ')
  if (start === undefined) return t.skip('this system does not tell when a process began')
  await release()
  await writeFile(path, `${pid} ${Number(start) - 1}`)
  await (await acquireLock(path))()
})

for (const content of ['', 'garbage', '0', '-1', '99999999 1'])
  test(`a lock file that says "${content}" is nobody's`, async (t) => {
    const path = join(await tempDir(t), 'lock')
    await writeFile(path, content)
    await (await acquireLock(path))()
    assert.deepEqual(await readdir(dirname(path)), [])
  })

test('of many that take over a dead lock at once, one at a time has it', async (t) => {
  const path = join(await tempDir(t), 'lock')
  await writeFile(path, '99999999 1')
  let holders = 0
  let held = 0
  const attempt = async () => {
    for (;;) {
      const release = await acquireLock(path).catch((error: Error & { code?: string }) => {
        assert.equal(error.code, 'STORE_LOCKED')
      })
      if (!release) continue
      holders += 1
      assert.equal(holders, 1)
      await Promise.resolve()
      held += 1
      holders -= 1
      return release()
    }
  }
  await Promise.all(Array.from({ length: 8 }, attempt))
  assert.equal(held, 8)
  assert.deepEqual(await readdir(dirname(path)), [])
})

test('a process that was killed and that nobody has looked after since holds no lock', async (t) => {
  const path = await lockPath(t)
  const code = `import { acquireLock } from ${JSON.stringify(lockFile)}
    await acquireLock(process.argv[1]).then(() => console.log(process.pid))
    setInterval(() => undefined, 1000)`
  // The shell becomes a program that never asks how its children ended, as the first process of many containers.
  const words = [
    '-c',
    '"$@" & exec sleep 1000',
    'sh',
    process.execPath,
    '--input-type=module-typescript',
    '-e',
    code,
    path,
  ]
  const parent = spawn('/bin/sh', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => parent.kill('SIGKILL'))
  const [said] = await once(parent.stdout, 'data')
  const pid = Number(String(said))
  process.kill(pid, 'SIGKILL')
  await until('the process is a zombie', () => processStat(pid)?.isZombie === true)
  await (await acquireLock(path))()
})
