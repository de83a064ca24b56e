import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FakeClock } from '../../../testkit/fake-clock.ts'
import { type Cleanup, tempDir } from '../../../testkit/temp-dir.ts'
import { systemClock } from '../../host/clock.ts'
import { endByCookie, findByCookie } from '../../host/process-cookies.ts'
import { createSecretFilter } from '../redaction/secret-filter.ts'
import { type ProcessControls, type ProcessEnd, type ProcessSpec, runProcess } from './run-process.ts'

const env = { PATH: '/usr/local/bin:/usr/bin:/bin' }
const hasProc = findByCookie('') !== undefined

interface Running {
  readonly end: Promise<ProcessEnd>
  readonly cookie: string
  output(): string
  /** Resolves when the output has `text`. */
  said(text: string): Promise<void>
}

/** Runs a script of bash; what is left of it when `t` ends is ended. */
async function runScript(
  t: Cleanup,
  script: string,
  { clock = systemClock, onOutput, ...more }: Partial<ProcessSpec & ProcessControls> = {},
): Promise<Running> {
  const cookie = `${await tempDir(t)}/`
  const output: Uint8Array[] = []
  const text = () => Buffer.concat(output).toString()
  const waiting = new Set<() => void>()
  const end = runProcess(
    { argv: ['bash', '-c', script], env, cookie, graceMs: 60_000, ...more },
    {
      clock,
      ...more,
      onOutput(chunk) {
        output.push(Buffer.from(chunk))
        for (const look of waiting) look()
        return onOutput?.(chunk)
      },
    },
  )
  t.after(() => endByCookie(cookie, { graceMs: 0, clock: systemClock }))
  const said = (wanted: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (text().includes(wanted)) resolve()
      }
      waiting.add(look)
      look()
    })
  return { end, cookie, output: text, said }
}

/** Waits until `isSo`, with a bound that nothing should reach. */
async function until(isSo: () => boolean): Promise<void> {
  for (let round = 0; round < 1500 && !isSo(); round += 1) await systemClock.sleep(10)
  assert.ok(isSo())
}

/** Time that stands still until a test lets a limit pass, while real processes need real time. */
class LimitClock extends FakeClock {
  override sleep(milliseconds: number): Promise<void> {
    return systemClock.sleep(milliseconds)
  }
}

test('a program gives its output in order, its status, and the environment that it was given and nothing else', async (t) => {
  const { end, output, cookie } = await runScript(t, '', {
    argv: ['/usr/bin/env'],
    env: { A: 'x y', B: "'" },
    cwd: '/',
  })
  assert.deepEqual({ ...(await end), durationMs: 0 }, { cause: 'exit', status: 0, durationMs: 0 })
  assert.deepEqual(output().trim().split('\n').sort(), ['A=x y', "B='", `SALLYPORT_STEP=${cookie}`])
})

test('standard output and error come as they were written, also by the names of their files', async (t) => {
  const { end, output } = await runScript(
    t,
    'for i in 1 2 3; do echo o$i; echo e$i >&2; done; echo x | tee /dev/stderr; exit 3',
  )
  assert.equal((await end).status, 3)
  assert.equal(output(), 'o1\ne1\no2\ne2\no3\ne3\nx\nx\n')
})

test('there is nothing to read', async (t) => {
  const { end, output } = await runScript(t, 'read -r line; echo "$?:$line"')
  await end
  assert.equal(output(), '1:\n')
})

test('what cannot be started says so', async (t) => {
  const folder = await tempDir(t)
  for (const more of [{ argv: ['no-such-program'] }, { argv: [folder] }, { cwd: join(folder, 'absent') }]) {
    const { end } = await runScript(t, 'true', more)
    const { cause, problem, status } = await end
    assert.deepEqual({ cause, status }, { cause: 'spawn-failed', status: undefined })
    assert.match(problem ?? '', /cannot be run/)
  }
})

test('what no program can be given says so', async (t) => {
  for (const [value, why] of [
    ['x'.repeat(200_000), /too large/],
    ['a\0b', /zero byte/],
  ] as const) {
    const { end } = await runScript(t, ':', { env: { ...env, VALUE: value } })
    const { cause, problem } = await end
    assert.equal(cause, 'spawn-failed')
    assert.match(problem ?? '', why)
  }
})

test('a signal that ended a program has its name, and a shell has no word in its output', async (t) => {
  const { end, output } = await runScript(t, 'kill -SEGV $$')
  const { cause, signal, status } = await end
  assert.deepEqual({ cause, signal, status }, { cause: 'exit', signal: 'SIGSEGV', status: 139 })
  assert.equal(output(), '')
})

test('who runs it hears of its number and start at once', { skip: !hasProc }, async (t) => {
  const started = Promise.withResolvers<{ pid: number; started?: string }>()
  const kill = new AbortController()
  const { end } = await runScript(t, 'echo ready; exec sleep 1000', { onStart: started.resolve, kill: kill.signal })
  const process = await started.promise
  assert.ok(process.pid > 0)
  assert.match(process.started ?? '', /^\d+$/)
  kill.abort()
  assert.equal((await end).cause, 'cancelled')
})

test('the status is in the exit file before anybody hears of the end, and nothing of an earlier one', async (t) => {
  const folder = await tempDir(t)
  const exitFile = join(folder, 'step exit')
  for (const status of [0, 7]) {
    const { end } = await runScript(t, `[ ! -e '${exitFile}' ] && exit ${status}`, { exitFile })
    assert.equal((await end).status, status)
    assert.equal(readFileSync(exitFile, 'utf8'), `${status}\n`)
  }
})

test('the exit file of a script that says 0 when it is asked to end says that it was asked', async (t) => {
  const exitFile = join(await tempDir(t), 'exit')
  const cancel = new AbortController()
  const script = `trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done`
  const { end, said } = await runScript(t, script, { cancel: cancel.signal, exitFile })
  await said('ready')
  cancel.abort()
  assert.equal((await end).cause, 'cancelled')
  assert.equal(readFileSync(exitFile, 'utf8'), '0 orphaned\n')
})

for (const firstSignal of ['SIGTERM', 'SIGINT'] as const) {
  test(`a script that traps ${firstSignal} cleans up within its grace when it is cancelled`, async (t) => {
    const cancel = new AbortController()
    const trap = `trap 'echo cleaned; exit 5' ${firstSignal.slice(3)}; echo ready; while :; do sleep 0.05; done`
    const { end, said, output } = await runScript(t, trap, { cancel: cancel.signal, firstSignal })
    await said('ready')
    cancel.abort()
    const { cause, status } = await end
    assert.deepEqual({ cause, status }, { cause: 'cancelled', status: 5 })
    assert.match(output(), /cleaned/)
  })
}

test('a script that ignores to be asked is killed after its grace, and not before', async (t) => {
  const clock = new LimitClock()
  const { end, said, cookie } = await runScript(t, `trap 'echo no' TERM; echo ready; while :; do sleep 0.01; done`, {
    clock,
    timeoutMs: 60_000,
    graceMs: 5_000,
  })
  await said('ready')
  clock.advance(60_000)
  await said('no')
  clock.advance(4_999)
  assert.notDeepEqual(findByCookie(cookie), [])
  clock.advance(1)
  const { cause, signal, durationMs } = await end
  assert.deepEqual({ cause, signal, durationMs }, { cause: 'timeout', signal: 'SIGKILL', durationMs: 65_000 })
  assert.deepEqual(findByCookie(cookie) ?? [], [])
})

test('killing does not ask, and takes the whole group, also what is stopped', async (t) => {
  const kill = new AbortController()
  const script = `trap '' TERM; (trap '' TERM; kill -STOP $BASHPID; sleep 1000) & echo ready; wait; sleep 1000`
  const { end, said, cookie } = await runScript(t, script, { kill: kill.signal })
  await said('ready')
  kill.abort()
  assert.equal((await end).signal, 'SIGKILL')
  assert.deepEqual(findByCookie(cookie) ?? [], [])
})

test('a process that is stopped goes on to obey', async (t) => {
  const cancel = new AbortController()
  const { end, said } = await runScript(t, `trap 'exit 4' TERM; echo ready; kill -STOP $$; sleep 1000`, {
    cancel: cancel.signal,
  })
  await said('ready')
  cancel.abort()
  assert.equal((await end).status, 4)
})

test('jobs that a script leaves behind are ended, whether they hold its output or not', async (t) => {
  for (const where of ['', '>/dev/null 2>&1']) {
    const { end, cookie } = await runScript(t, `sleep 1000 ${where} & (sleep 1000; :) ${where} & exit 0`)
    const { cause, status } = await end
    assert.deepEqual({ cause, status }, { cause: 'exit', status: 0 })
    assert.deepEqual(findByCookie(cookie) ?? [], [])
  }
})

test('jobs that are left behind and ignore to be asked are killed after their grace', async (t) => {
  const { end, cookie } = await runScript(t, `(trap '' TERM; echo up; sleep 1000) & exit 0`, { restGraceMs: 100 })
  assert.equal((await end).status, 0)
  assert.deepEqual(findByCookie(cookie) ?? [], [])
})

test('a daemon in a session of its own stays, does not hang the step, and is found by its cookie', {
  skip: !hasProc,
}, async (t) => {
  const script = 'setsid sleep 1000 & until [ "$(ps -o sid= -p $! | tr -d " ")" = $! ]; do :; done; echo ready'
  const { end, cookie } = await runScript(t, script, { restGraceMs: 100 })
  assert.equal((await end).status, 0)
  assert.equal(findByCookie(cookie)?.length, 1)
  assert.deepEqual(await endByCookie(cookie, { graceMs: 10_000, clock: systemClock }), [])
})

test('silence is told again and again, and output begins it anew', async (t) => {
  const clock = new LimitClock()
  const heard: number[] = []
  const kill = new AbortController()
  const folder = await tempDir(t)
  const { said, end } = await runScript(
    t,
    `echo one; until [ -e '${folder}/go' ]; do sleep 0.01; done; echo two; sleep 1000`,
    {
      clock,
      silenceMs: 1000,
      onSilence: (forMs) => heard.push(forMs),
      kill: kill.signal,
    },
  )
  await said('one')
  clock.advance(2500)
  assert.deepEqual(heard, [1000, 2000])
  spawn('touch', [`${folder}/go`])
  await said('two')
  clock.advance(999)
  assert.deepEqual(heard, [1000, 2000])
  clock.advance(1)
  assert.deepEqual(heard, [1000, 2000, 1000])
  kill.abort()
  await end
})

test('silence ends a program only where that is wanted', async (t) => {
  const clock = new LimitClock()
  const { said, end } = await runScript(t, 'echo one; sleep 1000', { clock, silenceMs: 1000, endOnSilence: true })
  await said('one')
  clock.advance(1000)
  assert.equal((await end).cause, 'silence')
})

test('50 MB of output wait for who reads them', async (t) => {
  const gate = Promise.withResolvers<void>()
  let bytes = 0
  let isFirst = true
  const folder = await tempDir(t)
  const { end } = await runScript(t, '', {
    argv: ['sh', '-c', `head -c 50000000 /dev/zero; : >'${folder}/done'`],
    onOutput(chunk) {
      bytes += chunk.byteLength
      if (!isFirst) return
      isFirst = false
      return gate.promise
    },
  })
  await until(() => bytes > 0)
  const before = bytes
  // What the pipes hold has been written, and the program waits.
  await systemClock.sleep(50)
  assert.ok(bytes === before && !existsSync(`${folder}/done`))
  gate.resolve()
  assert.equal((await end).status, 0)
  assert.equal(bytes, 50_000_000)
  assert.ok(existsSync(`${folder}/done`))
})

test('a program whose output cannot be taken is killed, and the reason is thrown', async (t) => {
  for (const onOutput of [() => assert.fail('full'), () => Promise.reject(new Error('full'))]) {
    const { end, cookie } = await runScript(t, 'echo ready; sleep 1000', { onOutput })
    await assert.rejects(end, /full/)
    assert.deepEqual(findByCookie(cookie) ?? [], [])
  }
})

test('a program is given no signal to ignore', { skip: !hasProc }, async (t) => {
  const { end, output } = await runScript(t, '', { argv: ['grep', 'SigIgn', '/proc/self/status'] })
  await end
  assert.match(output(), /^SigIgn:\s*0+\n$/)
})

test('a secret that is printed byte by byte is not seen', async (t) => {
  const filter = createSecretFilter(['hunter2-long'])
  const shown: Uint8Array[] = []
  const script = `for c in h u n t e r 2 - l o n g; do printf %s "$c"; sleep 0.002; done; echo ' end'`
  const { end } = await runScript(t, script, { onOutput: (chunk) => void shown.push(Buffer.from(filter.push(chunk))) })
  await end
  assert.equal(Buffer.concat([...shown, filter.end()]).toString(), '*** end\n')
})

test('nothing is left when who started it is killed, and the exit file tells that it was not its own end', {
  skip: !hasProc,
}, async (t) => {
  const folder = await tempDir(t)
  const script = [
    `trap 'for i in 1 2 3 4 5; do echo cleaning; sleep 0.02; done; echo cleaned >"${folder}/cleaned"; exit 0' TERM`,
    `(trap '' TERM; sleep 1000) & sleep 1000 & echo ready; wait`,
  ].join('\n')
  const file = fileURLToPath(new URL('../../../testkit/process-child.ts', import.meta.url))
  const child = spawn(process.execPath, [file, folder, script], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => endByCookie(`${folder}/`, { graceMs: 0, clock: systemClock }))
  await once(createInterface(child.stdout), 'line')
  assert.notDeepEqual(findByCookie(`${folder}/`), [])
  child.kill('SIGKILL')
  await until(() => findByCookie(`${folder}/`)?.length === 0)
  assert.equal(readFileSync(`${folder}/cleaned`, 'utf8'), 'cleaned\n')
  assert.equal(readFileSync(`${folder}/exit`, 'utf8'), '0 orphaned\n')
})

test('when who started it is killed, the grace of what is left ends where nothing is left', {
  skip: !hasProc,
}, async (t) => {
  const folder = await tempDir(t)
  const file = fileURLToPath(new URL('../../../testkit/process-child.ts', import.meta.url))
  const words = [file, folder, 'sleep 1000 & echo ready; wait', '600000']
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => endByCookie(`${folder}/`, { graceMs: 0, clock: systemClock }))
  await once(createInterface(child.stdout), 'line')
  child.kill('SIGKILL')
  await until(() => findByCookie(`${folder}/`)?.length === 0)
  assert.equal(readFileSync(`${folder}/exit`, 'utf8'), '143 orphaned\n')
})
