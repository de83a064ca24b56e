import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blobNamed, manifestNamed, type SampleArchive, sampleArchive } from '../../../testkit/archive-history.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { openBase } from './archive-base.ts'
import { recordArchive } from './archive-history.ts'

const web = { name: 'web', blobs: ['base', 'web'], signatures: ['web-sig'] }
const tool = { name: 'tool', blobs: ['base', 'tool'] }

async function workspaceWith(t: TestContext, samples: readonly SampleArchive[]): Promise<string> {
  const directory = join(await tempDir(t), 'archives')
  for (const sample of samples) await recordArchive(directory, sampleArchive(sample))
  return directory
}

const whole = (base: Awaited<ReturnType<typeof openBase>>, name: string) =>
  base.wholeImage(`quay.io/sample/${name}:1`, `sample/${name}:1`)?.map(({ digest }) => digest)

test('without a history the next archive is the first, and a full one', async (t) => {
  const base = await openBase(join(await tempDir(t), 'archives'), {})
  assert.deepEqual(
    { ...base, holds: 0, wholeImage: 0 },
    { sequence: 0, archives: [], count: 0, findings: [], holds: 0, wholeImage: 0 },
  )
  assert.equal(base.holds(blobNamed('base')), false)
})

test('declared history: what was put into archives since the last full one is held', async (t) => {
  const directory = await workspaceWith(t, [
    { sequence: 1, images: [{ name: 'old', blobs: ['old'] }] },
    { sequence: 2, kind: 'full', images: [web] },
    { sequence: 3, images: [tool], held: ['base'] },
  ])
  const base = await openBase(directory, {})
  assert.equal(base.sequence, 3)
  assert.equal(base.parent, sampleArchive({ sequence: 3, images: [tool], held: ['base'] }).id)
  assert.deepEqual(base.archives, [2, 3])
  assert.equal(base.holds(blobNamed('tool')), true)
  assert.equal(base.holds(blobNamed('old')), false)
  assert.deepEqual(whole(base, 'web'), [manifestNamed('web'), manifestNamed('web-sig')])
  assert.deepEqual(whole(base, 'tool'), [manifestNamed('tool')])
  assert.equal(whole(base, 'old'), undefined)
})

test('a hole is not held, and no image that needs it, or whose signature needs it, is whole', async (t) => {
  for (const [hole, isWebWhole, isToolWhole] of [
    ['base', false, false],
    ['tool', true, false],
    ['of web-sig', false, true],
  ] as const) {
    const directory = await workspaceWith(t, [{ sequence: 1, images: [web, tool], missing: [blobNamed(hole)] }])
    const base = await openBase(directory, {})
    assert.equal(base.holds(blobNamed(hole)), false)
    assert.deepEqual([whole(base, 'web') !== undefined, whole(base, 'tool') !== undefined], [isWebWhole, isToolWhole])
  }
})

test('what was a hole and came with a later archive is held', async (t) => {
  const directory = await workspaceWith(t, [
    { sequence: 1, images: [tool], missing: [blobNamed('tool')] },
    { sequence: 2, images: [tool], held: ['base'] },
  ])
  assert.ok(whole(await openBase(directory, {}), 'tool'))
})

test('since a day, as oc-mirror: what was carried from that day on is carried again, and numbers go on', async (t) => {
  const directory = await workspaceWith(t, [
    { sequence: 1, images: [web], recordedAt: '2026-10-01T12:00:00.000Z' },
    { sequence: 2, images: [tool], held: ['base'], recordedAt: '2026-10-08T12:00:00.000Z' },
  ])
  const base = await openBase(directory, { sinceMs: Date.parse('2026-10-08') })
  assert.deepEqual([base.sequence, base.archives], [2, [1]])
  assert.equal(base.parent, sampleArchive({ sequence: 1, images: [web] }).id)
  assert.equal(base.holds(blobNamed('tool')), false)
  assert.equal((await openBase(directory, { sinceMs: Date.parse('2026-01-01') })).parent, undefined)
})

test('a full archive builds on nothing, and numbers go on', async (t) => {
  const directory = await workspaceWith(t, [{ sequence: 1, images: [web] }])
  const base = await openBase(directory, { isFull: true })
  assert.deepEqual([base.sequence, base.parent, base.count], [1, undefined, 0])
})

test('every image of a plan that is longer than what is read at once is known whole', async (t) => {
  const blobs = (name: number) => Array.from({ length: 8 }, (_, n) => `${name}.${n}`)
  const images = Array.from({ length: 2000 }, (_, n) => ({ name: `image-${n}`, blobs: blobs(n) }))
  const sample = { sequence: 1, images, missing: [blobNamed('1999.7')] }
  assert.ok(sampleArchive(sample).front.record.files.plan.size > 1024 * 1024)
  const base = await openBase(await workspaceWith(t, [sample]), {})
  assert.equal(base.count, 2000 * 9 - 1)
  assert.deepEqual(
    images.filter(({ name }) => !whole(base, name)).map(({ name }) => name),
    ['image-1999'],
  )
})
