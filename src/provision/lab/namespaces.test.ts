import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { canHaveLab, labHost } from '../../../testkit/lab.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { randomId } from '../../host/random.ts'
import { removeNamespace } from './namespaces.ts'

test('a namespace in which a process does not end is not said to be gone', { timeout: 60_000 }, async (t) => {
  if (!canHaveLab(t)) return
  const name = `sallyport-t${randomId().slice(0, 10)}`
  const path = join('/run/netns', name)
  await mkdir('/run/netns', { recursive: true })
  await writeFile(path, '')
  t.after(() => rm(path, { force: true }))
  const bin = await tempDir(t)
  // A number that no process has, for nothing that a test may start outlives SIGKILL.
  const program = '#!/bin/sh\ncase "$2" in pids) echo 99999999 ;; *) exit 0 ;; esac\n'
  await writeFile(join(bin, 'ip'), program, { mode: 0o755 })
  const host = { ...labHost, env: { ...labHost.env, PATH: `${bin}:${labHost.env['PATH']}` } }
  await assert.rejects(removeNamespace(host, name), {
    code: 'LAB_FAILED',
    message: `What runs in ${name} does not end: process 99999999`,
  })
})
