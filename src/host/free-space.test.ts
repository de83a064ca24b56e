import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { smallDisk } from '../../testkit/small-disk.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import type { KnownError } from '../errors/known-error.ts'
import { checkFreeSpace, freeSpaceAt } from './free-space.ts'

const MiB = 2 ** 20

test('a path that does not exist yet is measured where it would be, and nothing is made for it', async (t) => {
  const directory = await tempDir(t)
  const space = await freeSpaceAt(join(directory, 'not', 'there', 'yet'))
  assert.equal(space.path, directory)
  assert.equal(space.device, (await freeSpaceAt(directory)).device)
  assert.deepEqual(await readdir(directory), [])
})

test('what fits is let through, however many places it goes to', async (t) => {
  const directory = await tempDir(t)
  const need = { neededBytes: 1000, what: 'the archive' }
  await checkFreeSpace([])
  await checkFreeSpace([
    { ...need, path: directory },
    { ...need, path: join(directory, 'other') },
  ])
})

test('places on one disk are added up, and the message names each with what it needs and what is free', async (t) => {
  const disk = await smallDisk(t, 3 * MiB)
  if (!disk) return
  const roomy = { path: await tempDir(t), neededBytes: 1, what: 'the workspace' }
  const archive = { path: join(disk.path, 'usb', 'archive'), neededBytes: 2 * MiB, what: 'the archive' }
  const store = { path: join(disk.path, 'store'), neededBytes: 2 * MiB, what: 'the store' }
  await checkFreeSpace([archive, roomy])
  await assert.rejects(checkFreeSpace([archive, roomy, store]), (error: KnownError) => {
    assert.equal(error.code, 'DISK_FULL')
    assert.match(
      error.message,
      /the archive at \S+archive needs 2 MiB and the store at \S+store needs 2 MiB, together 4 MiB, and that disk has 3 MiB free/,
    )
    assert.ok(!error.message.includes('the workspace'), error.message)
    assert.equal(error.details['neededBytes'], 4 * MiB)
    assert.match(error.hint, /^Free at least 1 MiB/)
    return true
  })
})
