import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { asNobody } from '../../../testkit/as-nobody.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { SharedDirectory } from './shared-directory.ts'

interface Place {
  readonly root: string
  readonly path: string
  readonly copy: string
}

async function place(t: TestContext): Promise<Place> {
  const root = await tempDir(t)
  const path = join(root, 'shared')
  await mkdir(path)
  return { root, path, copy: join(root, 'state', 'a', '1', 'shared') }
}

async function contents(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort()
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(path, name), 'utf8')])),
  )
}

test('what is in the copy replaces all that was there, whatever it was', async (t) => {
  const files = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.string(), { maxKeys: 5, noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(files, files, async (before, after) => {
      const { path, copy } = await place(t)
      for (const [name, text] of Object.entries(before)) await writeFile(join(path, name), text)
      const shared = new SharedDirectory(path)
      await shared.lend(copy)
      assert.deepEqual(await contents(copy), before)
      await rm(copy, { recursive: true })
      await mkdir(copy)
      for (const [name, text] of Object.entries(after)) await writeFile(join(copy, name), text)
      assert.deepEqual(await shared.takeBack(copy), [])
      assert.deepEqual(await contents(path), after)
    }),
    { numRuns: 20 },
  )
})

test('a crash at any moment of a replacement is followed by all of it', async (t) => {
  const crashes: Readonly<Record<string, (place: Place) => Promise<unknown>>> = {
    'before it began': () => Promise.resolve(),
    'with a half of the next': ({ path }) => mkdir(`${path}.next`).then(() => writeFile(`${path}.next/new`, 'ha')),
    'without the old': async ({ path, copy }) => {
      await rename(path, `${path}.old`)
      await mkdir(`${path}.next`)
      await writeFile(`${path}.next/new`, await readFile(join(copy, 'new')))
    },
    // The engine makes the directory where it is not there.
    'with an empty one in its place': async ({ path }) => {
      await rename(path, `${path}.old`)
      await mkdir(path)
    },
    'with the old beside the new': async ({ path, copy }) => {
      await rename(path, `${path}.old`)
      await mkdir(path)
      await writeFile(join(path, 'new'), await readFile(join(copy, 'new')))
    },
  }
  for (const [when, crash] of Object.entries(crashes)) {
    const at = await place(t)
    await writeFile(join(at.path, 'old'), 'old')
    await new SharedDirectory(at.path).lend(at.copy)
    await rm(join(at.copy, 'old'))
    await writeFile(join(at.copy, 'new'), 'new')
    await crash(at)
    const next = new SharedDirectory(at.path)
    const other = join(at.root, 'other')
    await next.snapshot(other)
    assert.deepEqual(await contents(other), { new: 'new' }, when)
    assert.deepEqual(await contents(at.path), { new: 'new' }, when)
    assert.deepEqual((await readdir(at.root)).sort(), ['other', 'shared', 'state'], when)
  }
})

test('who only reads while a copy is out sees what was there before', async (t) => {
  const { path, copy, root } = await place(t)
  const shared = new SharedDirectory(path)
  await shared.lend(copy)
  await writeFile(join(copy, 'half'), 'x')
  await shared.snapshot(join(root, 'observer'))
  assert.deepEqual(await readdir(join(root, 'observer')), [])
  await shared.update(copy)
  assert.deepEqual(await readdir(path), ['half'])
})

test('what is no copy of a step is neither taken nor removed, whatever a file beside it names', async (t) => {
  for (const marked of ['', '.', 'state/', 'journal', '../elsewhere', 'state/../../elsewhere']) {
    const { root, path } = await place(t)
    const run = join(root, 'run')
    await mkdir(join(run, 'state'), { recursive: true })
    await rename(path, join(run, 'shared'))
    await mkdir(join(root, 'elsewhere'))
    for (const file of ['elsewhere/theirs', 'run/journal', 'run/state/kept', 'run/shared/kept']) {
      await writeFile(join(root, file), 'x')
    }
    await writeFile(join(run, 'shared.out'), marked)
    await new SharedDirectory(join(run, 'shared')).snapshot(join(root, 'copy'))
    assert.deepEqual(await readdir(join(root, 'copy')), ['kept'], marked)
    assert.deepEqual(await readdir(join(root, 'elsewhere')), ['theirs'], marked)
    assert.deepEqual((await readdir(run)).sort(), ['journal', 'shared', 'state'], marked)
    assert.deepEqual(await readdir(join(run, 'state')), ['kept'], marked)
  }
})

test('a copy that is gone changes nothing', async (t) => {
  const { path, copy, root } = await place(t)
  await writeFile(join(path, 'kept'), 'x')
  await new SharedDirectory(path).lend(copy)
  await rm(copy, { recursive: true })
  await new SharedDirectory(path).snapshot(join(root, 'other'))
  assert.deepEqual(await readdir(path), ['kept'])
  const shared = new SharedDirectory(path)
  await shared.lend(copy)
  await rm(copy, { recursive: true })
  assert.deepEqual(await shared.takeBack(copy), [])
  assert.deepEqual(await readdir(path), ['kept'])
})

test('a copy that is no directory any more is not taken, and keeps no step after it', async (t) => {
  const replacements = {
    file: (copy: string) => writeFile(copy, 'x'),
    'link to a directory': (copy: string) => symlink('/etc', copy),
    'link to itself': (copy: string) => symlink('shared', copy),
  }
  for (const [what, replace] of Object.entries(replacements)) {
    const { path, copy, root } = await place(t)
    await writeFile(join(path, 'kept'), 'x')
    const spoil = async (shared: SharedDirectory) => {
      await shared.lend(copy)
      await rm(copy, { recursive: true })
      await replace(copy)
    }
    const shared = new SharedDirectory(path)
    await spoil(shared)
    assert.deepEqual(await shared.takeBack(copy), ['SHARED_DIR is not kept: it is no directory any more'], what)
    await rm(copy)
    await spoil(shared)
    // As after a crash.
    await new SharedDirectory(path).lend(join(root, 'next'))
    assert.deepEqual(await readdir(join(root, 'next')), ['kept'], what)
  }
})

test('what a script has closed to itself is kept, and open to the next', (t) =>
  asNobody(async () => {
    const { path, copy, root } = await place(t)
    const shared = new SharedDirectory(path)
    await shared.lend(copy)
    await writeFile(join(copy, 'a'), 'x', { mode: 0o400 })
    await chmod(copy, 0)
    assert.deepEqual(await shared.takeBack(copy), [])
    await shared.lend(join(root, 'next'))
    await writeFile(join(root, 'next', 'a'), 'y')
    assert.equal((await stat(join(root, 'next', 'a'))).mode & 0o777, 0o600)
  }))

test('of many files only those that a step has changed are written again', async (t) => {
  const { path, copy } = await place(t)
  const shared = new SharedDirectory(path)
  await shared.lend(copy)
  for (const name of ['kept', 'changed', 'closed', 'gone']) await writeFile(join(copy, name), 'as it was')
  await shared.takeBack(copy)
  await rm(copy, { recursive: true })
  const inodes = async () =>
    Object.fromEntries(
      await Promise.all((await readdir(path)).map(async (name) => [name, (await stat(join(path, name))).ino])),
    )
  const before = await inodes()
  await shared.lend(copy)
  // Of the same size: nothing but its bytes tells.
  await writeFile(join(copy, 'changed'), 'as it is!')
  await chmod(join(copy, 'closed'), 0o600)
  await rm(join(copy, 'gone'))
  await shared.takeBack(copy)
  const after = await inodes()
  assert.deepEqual(await contents(path), { changed: 'as it is!', closed: 'as it was', kept: 'as it was' })
  assert.deepEqual(
    Object.keys(after).filter((name) => after[name] === before[name]),
    ['kept'],
  )
  await shared.lend(join(copy, '..', 'next'))
  await writeFile(join(copy, '..', 'next', 'kept'), 'of one step')
  assert.equal(await readFile(join(path, 'kept'), 'utf8'), 'as it was')
})

test('what ci-operator would refuse is told once for a size', async (t) => {
  const { path, copy } = await place(t)
  const shared = new SharedDirectory(path)
  const told: number[] = []
  for (const bytes of [1, 1024 * 1024, undefined, 10]) {
    await shared.lend(copy)
    if (bytes !== undefined) await writeFile(join(copy, String(bytes)), Buffer.alloc(bytes))
    told.push((await shared.takeBack(copy)).length)
    await rm(copy, { recursive: true })
  }
  assert.deepEqual(told, [0, 1, 0, 1])
})
