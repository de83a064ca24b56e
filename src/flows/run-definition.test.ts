import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { smallDisk } from '../../testkit/small-disk.ts'
import { KnownError } from '../errors/known-error.ts'
import { makeRunDirectory, runDirectory } from '../workflow/run-directory.ts'
import { readDefinition, writeDefinition } from './run-definition.ts'

test('where the disk is full, a run that goes on needs no space to say what it is made from', async (t) => {
  const disk = await smallDisk(t, 512 * 1024)
  if (disk === undefined) return
  const directory = runDirectory(join(disk.path, 'runs'), '20260101T000000-00000')
  await makeRunDirectory(directory)
  const definition = { kind: 'disconnected', file: '/site/sallyport.yaml', text: 'mirror: {}' } as const
  await writeDefinition(directory, definition)
  await assert.rejects(writeFile(join(disk.path, 'all'), Buffer.alloc(1024 * 1024)))
  await writeDefinition(directory, definition)
  const other = { ...definition, file: '/other/sallyport.yaml' }
  await assert.rejects(
    writeDefinition(directory, other),
    (error: unknown) => error instanceof KnownError && error.code === 'DISK_FULL',
  )
  assert.deepEqual(await readDefinition(directory), definition)
})
