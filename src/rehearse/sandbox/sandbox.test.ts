import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { systemClock } from '../../host/clock.ts'
import { shellQuote } from '../../host/shell-quote.ts'
import { openSandbox, type StandInCall, whyNoSandbox } from './sandbox.ts'

let unavailable: string | undefined

before(async () => {
  unavailable = await whyNoSandbox()
})

interface Ran {
  readonly status: number | string
  readonly output: string
  readonly calls: readonly StandInCall[]
  readonly directory: string
}

/** Undefined after the test was marked as skipped. */
async function run(t: TestContext, script: string, standIns = ['podman']): Promise<Ran | undefined> {
  if (unavailable !== undefined) {
    if (process.env['SALLYPORT_REQUIRE_PEERS'] === '1') throw new Error(`a sandbox is required: ${unavailable}`)
    t.skip(`no sandbox: ${unavailable}`)
    return undefined
  }
  const directory = await tempDir(t)
  const calls: StandInCall[] = []
  const answer = async (call: StandInCall) => {
    calls.push(call)
    return `printf '%s' ${shellQuote(`answer to ${call.args.join(' ')}`)}\nexit 3\n`
  }
  const sandbox = await openSandbox({ directory, standIns, answer })
  t.after(() => sandbox.close())
  const logFile = join(directory, 'log')
  const options = { unit: 'a.service', workingDirectory: '/tmp', env: { OWN: 'here' }, logFile }
  const status = await sandbox.run(['/usr/bin/bash', '-c', script], options).ended
  return { status, output: await readFile(logFile, 'utf8'), calls, directory }
}

test('a stand-in hears how it was called and what was piped into it, and does what the answer says', async (t) => {
  const ran = await run(t, `cd /var; echo 'two\nlines' | podman run - 'a b' ''; echo "status $?"`)
  if (!ran) return
  const call = { name: 'podman', cwd: '/var', unit: 'a.service', args: ['run', '-', 'a b', ''], input: 'two\nlines\n' }
  assert.deepEqual(ran.calls, [call])
  assert.equal(ran.output, 'answer to run - a b status 3\n')
})

test('a program that nobody has is a stand-in too, in functions and in command substitutions', async (t) => {
  const ran = await run(t, 'f() { frobnicate --now; }; x=$(f); echo "[$x]"')
  assert.deepEqual(ran && [ran.calls[0]?.name, ran.output], ran && ['frobnicate', '[answer to --now]\n'])
})

test('calls at the same time get their own answers', async (t) => {
  const ran = await run(t, 'for i in $(seq 20); do (echo "$i: $(podman $i)") & done; wait')
  const lines = ran?.output.trim().split('\n') ?? []
  assert.deepEqual(
    lines.filter((line) => !/^(\d+): answer to \1$/.test(line)),
    [],
  )
  assert.equal(lines.length, ran ? 20 : 0)
})

test('a script sees nothing of the machine but its programs, and cannot change these', async (t) => {
  const secret = join(await tempDir(t), 'secret')
  await writeFile(secret, 'of the machine')
  const ran = await run(
    t,
    `cat ${secret}; ls /home /.old* 2>&1; touch /.host/usr/bin/x; rm -rf /.host/usr/bin/bash
     PATH=/.host/usr/bin mount -o remount,bind,rw /.host/usr; /.host/usr/bin/umount /.host/usr; touch /.host/usr/x
     PATH=/.host/usr/bin:/.host/usr/sbin chroot /proc/1/root /usr/bin/touch /.host/usr/y
     echo "$(cat /proc/net/dev | wc -l) interfaces, user $(id -u)"; echo x > /dev/tcp/127.0.0.1/1`,
  )
  if (!ran) return
  assert.doesNotMatch(ran.output, /of the machine/)
  assert.equal(ran.output.match(/Read-only file system/g)?.length, 4, ran.output)
  assert.match(ran.output, /3 interfaces, user 0/)
  for (const made of ['/usr/bin/x', '/usr/x', '/usr/y']) await assert.rejects(access(made), { code: 'ENOENT' })
  await access('/usr/bin/bash')
})

test('links that a script lays lead nobody outside', async (t) => {
  const secret = join(await tempDir(t), 'secret')
  await writeFile(secret, 'a\0b\0c\0d\0')
  const ran = await run(
    t,
    `cd /run/sallyport/calls; ln -s ${secret} 9.9.args; mkfifo 9.9.answer; ln -sf ${secret} 8.8.answer
     printf '%s\\0' podman / u x > 8.8.args
     exec 9<>9.9.answer; echo 9.9 > all; read -r _ <&9; cat /run/sallyport/replies/9.9; echo 8.8 > all; echo ../../../../etc > all
     podman last; echo > /run/sallyport/replies/z`,
  )
  if (!ran) return
  assert.match(ran.output, /ELOOP/)
  assert.equal(await readFile(secret, 'utf8'), 'a\0b\0c\0d\0')
  assert.match(ran.output, /answer to last.*Read-only file system/s)
})

test('a command that never ends is ended with all that it started', async (t) => {
  if (unavailable !== undefined) return t.skip(`no sandbox: ${unavailable}`)
  const directory = await tempDir(t)
  const sandbox = await openSandbox({ directory, standIns: [], answer: async () => '' })
  t.after(() => sandbox.close())
  const started = Promise.withResolvers<void>()
  const own = await openSandbox({
    directory: await tempDir(t),
    standIns: ['ready'],
    answer: async () => {
      started.resolve()
      return 'exit 0\n'
    },
  })
  t.after(() => own.close())
  const logFile = join(directory, 'log')
  const script = '(while :; do :; done) & ready; while :; do :; done'
  const process = own.run(['/usr/bin/bash', '-c', script], { unit: 'u', workingDirectory: '/', env: {}, logFile })
  await started.promise
  process.kill()
  assert.equal(await process.ended, 'SIGKILL')
})

test('what runs in a sandbox is gone when who started it is killed', async (t) => {
  if (unavailable !== undefined) return t.skip(`no sandbox: ${unavailable}`)
  const directory = await tempDir(t)
  const file = fileURLToPath(new URL('../../../testkit/sandbox-child.ts', import.meta.url))
  const child = spawn(process.execPath, [file, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(createInterface(child.stdout), 'line')
  assert.notDeepEqual(await processesNaming(directory), [])
  child.kill('SIGKILL')
  await once(child, 'exit')
  // A bound on waiting, not a time that anything takes.
  for (let round = 0; round < 500 && (await processesNaming(directory)).length > 0; round += 1) {
    await systemClock.sleep(10)
  }
  assert.deepEqual(await processesNaming(directory), [])
})

/** Numbers of processes with `text` in their command line. */
async function processesNaming(text: string): Promise<readonly string[]> {
  const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(numbers.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return numbers.filter((_, index) => lines[index]?.includes(text))
}

test('programs are those of the machine, by links that stay inside', async (t) => {
  const ran = await run(t, 'echo $BASH_VERSION; type -p grep; sh -c "[[ a == a ]] && echo bash"')
  if (!ran) return
  assert.match(ran.output, /^\d.*\n\/usr\/bin\/grep\nbash\n$/)
  assert.match(await readlink(join(ran.directory, 'root/usr/bin/grep')), /^\/\.host\//)
})
