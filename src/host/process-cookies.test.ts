import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'
import { systemClock } from './clock.ts'
import { cookieName, endByCookie, findByCookie } from './process-cookies.ts'

const skip = findByCookie('') === undefined && 'there is no /proc'

/** It waits, and starts no other process. */
const waiting = 'echo; read'

/** A process with `cookie` that has run as far as its `echo`. */
async function orphan(t: Cleanup, cookie: string, script: string): Promise<ChildProcess> {
  const env = { PATH: '/usr/bin:/bin', [cookieName]: cookie }
  const child = spawn('bash', ['-c', script], { env, stdio: ['pipe', 'pipe', 'ignore'], detached: true })
  t.after(() => child.kill('SIGKILL'))
  await once(createInterface(child.stdout), 'line')
  return child
}

test('processes are found by what their cookie begins with, with a start of their own', { skip }, async (t) => {
  const run = await tempDir(t)
  const [one, other] = await Promise.all(['step/1', 'step-2/1'].map((step) => orphan(t, `${run}/${step}`, waiting)))
  assert.deepEqual(
    findByCookie(`${run}/step/`)?.map(({ pid, cookie }) => ({ pid, cookie })),
    [{ pid: one?.pid, cookie: `${run}/step/1` }],
  )
  const both = findByCookie(`${run}/`)
  assert.deepEqual(both?.map(({ pid }) => pid).sort(), [one?.pid, other?.pid].sort())
  assert.ok(both?.every(({ started }) => /^\d+$/.test(started)))
  assert.deepEqual(findByCookie(`${run}x`), [])
})

test('a process is found while it becomes another program, again and again', { skip }, async (t) => {
  const run = await tempDir(t)
  const script = join(run, 'again')
  await writeFile(script, '#!/bin/sh\nexec "$0"\n', { mode: 0o755 })
  await orphan(t, `${run}/a/1`, `echo; exec ${script}`)
  for (let look = 0; look < 1000; look += 1) assert.equal(findByCookie(`${run}/`)?.length, 1)
})

test('orphans are asked once and have their grace to clean up', { skip }, async (t) => {
  const run = await tempDir(t)
  const child = await orphan(
    t,
    `${run}/a/1`,
    `trap 'read -rt 0.2 < <(sleep 1); exit 6' TERM; echo; while :; do :; done`,
  )
  const ended = once(child, 'exit')
  assert.deepEqual(await endByCookie(`${run}/`, { graceMs: 60_000, clock: systemClock }), [])
  assert.deepEqual(await ended, [6, null])
})

test('the grace of orphans ends also when the clock is set back meanwhile', { skip }, async (t) => {
  const run = await tempDir(t)
  await orphan(t, `${run}/a/1`, `trap '' TERM; echo; while :; do :; done`)
  let now = Date.now()
  const clock = { ...systemClock, now: () => (now -= 60_000) }
  assert.deepEqual(await endByCookie(`${run}/`, { graceMs: 200, clock }), [])
})

test('orphans that do not obey are killed, in other sessions and stopped ones too, and others are left alone', {
  skip,
}, async (t) => {
  const run = await tempDir(t)
  const [stubborn, stopped, stranger] = await Promise.all([
    orphan(t, `${run}/a/1`, `trap '' TERM; echo; while :; do :; done`),
    orphan(t, `${run}/b/1`, `trap '' TERM; echo; kill -STOP $$; while :; do :; done`),
    orphan(t, `${run}-other/b/1`, waiting),
  ])
  assert.deepEqual(await endByCookie(`${run}/`, { graceMs: 50, clock: systemClock }), [])
  for (const child of [stubborn, stopped]) {
    if (child?.signalCode === null) await once(child, 'exit')
    assert.equal(child?.signalCode, 'SIGKILL')
  }
  assert.equal(stranger?.signalCode, null)
  assert.equal(findByCookie(`${run}-other/`)?.length, 1)
})
