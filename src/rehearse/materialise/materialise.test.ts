import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { type MaterialiseOptions, materialise } from './materialise.ts'
import { RootedTree } from './rooted-tree.ts'

function config(parts: Omit<IgnitionConfig, 'ignition'>, version = '3.2.0'): IgnitionConfig {
  return { ignition: { version }, ...parts }
}

function withFiles(...paths: string[]): IgnitionConfig {
  return config({ storage: { files: paths.map((path) => ({ path, contents: { source: 'data:,text' } })) } })
}

function make(own: IgnitionConfig, root: string, options: Partial<MaterialiseOptions> = {}) {
  return materialise(own, root, { owners: 'ignore', signal: AbortSignal.timeout(60_000), ...options })
}

/** A directory with `inside`, and beside it what must stay as it is. */
async function site(t: TestContext): Promise<{ readonly root: string; readonly outside: string }> {
  const folder = await tempDir(t)
  const [root, outside] = [join(folder, 'inside'), join(folder, 'outside')]
  for (const path of [root, outside]) await mkdir(path)
  await writeFile(join(outside, 'kept'), 'kept')
  return { root, outside }
}

test('a directory that is not empty is only written to where that is said', async (t) => {
  const { root } = await site(t)
  await writeFile(join(root, 'old'), '')
  await assert.rejects(make(withFiles('/new'), root), { code: 'FILE_EXISTS' })
  assert.deepEqual(await readdir(root), ['old'])
  await make(withFiles('/new'), root, { isIntoExisting: true })
  assert.deepEqual((await readdir(root)).sort(), ['new', 'old'])
})

test('what is there already is an error without overwrite, and gone with it', async (t) => {
  const { root } = await site(t)
  await make(withFiles('/etc/a'), root)
  await assert.rejects(make(withFiles('/etc/a'), root, { isIntoExisting: true }), { code: 'FILE_EXISTS' })
  const link = config({ storage: { links: [{ path: '/etc', target: 'usr', overwrite: true }] } })
  await make(link, root, { isIntoExisting: true })
  assert.equal(await readlink(join(root, 'etc')), 'usr')
})

test('nothing is written where a file is elsewhere, or is not what its hash says', async (t) => {
  const { root } = await site(t)
  const file = (contents: object) => config({ storage: { files: [{ path: '/b', contents }] } })
  await assert.rejects(make(file({ source: 's3://bucket/b' }), join(root, 'new')), {
    code: 'IGNITION_REMOTE',
    message: '/b is not in the config: it is at s3://bucket/b',
  })
  const wrong = { source: 'data:,x', verification: { hash: `sha512-${'0'.repeat(128)}` } }
  await assert.rejects(make(file(wrong), join(root, 'new')), { code: 'IGNITION_INVALID' })
  assert.deepEqual(await readdir(root), [])
})

test('links in the directory that lead out of it are followed inside of it', async (t) => {
  const { root, outside } = await site(t)
  await mkdir(join(root, 'deep'))
  await symlink(outside, join(root, 'deep/absolute'))
  await symlink('../outside', join(root, 'relative'))
  await symlink('../../../../../../../../outside', join(root, 'far'))
  await symlink('deep/absolute', join(root, 'twice'))
  const paths = ['/deep/absolute/a', '/relative/b', '/far/d', '/twice/c']
  await make(withFiles(...paths), root, { isIntoExisting: true })
  assert.deepEqual(await readdir(outside), ['kept'])
  assert.deepEqual(await readdir(join(root, outside)), ['a', 'c'])
  assert.deepEqual(await readdir(join(root, 'outside')), ['b', 'd'])
})

test('a link that the config makes itself is not followed', async (t) => {
  const { root, outside } = await site(t)
  const both = config({
    storage: {
      links: [{ path: '/way', target: '../outside' }],
      files: [{ path: '/way/in', contents: { source: 'data:,x' } }],
    },
  })
  await assert.rejects(make(both, root), { code: 'FILE_UNWRITABLE' })
  const unit = config({
    storage: { links: [{ path: '/etc/systemd', target: '../../outside' }] },
    systemd: { units: [{ name: 'a.service', contents: '[Unit]\n' }] },
  })
  await make(unit, join(root, 'second'))
  assert.deepEqual(await readdir(outside), ['kept'])
})

test('what has become a link since it was resolved is not followed', async (t) => {
  const { root, outside } = await site(t)
  const tree = new RootedTree(root)
  const at = await tree.resolve('/way/kept')
  await symlink(outside, join(root, 'way'))
  await assert.rejects(tree.stat(at), { code: 'FILE_UNWRITABLE' })
  await assert.rejects(tree.append(at, 'x'), { code: 'FILE_UNWRITABLE' })
  await assert.rejects(tree.setMode(at, 0o777), { code: 'FILE_UNWRITABLE' })
  await assert.rejects(tree.writeNew(await tree.resolve('/way'), 'x', 0o644), { code: 'EEXIST' })
  assert.equal(await readFile(join(outside, 'kept'), 'utf8'), 'kept')
})

test('whether a path leads to anything is answered inside of the tree', async (t) => {
  const { root, outside } = await site(t)
  const tree = new RootedTree(root)
  await symlink(outside, join(root, 'out'))
  await symlink('nowhere', join(root, 'dangling'))
  await symlink('circle', join(root, 'circle'))
  await symlink('/', join(root, 'top'))
  const answers = ['/', '/top/top', '/top/dangling', '/out', '/out/kept', '/circle', '/circle/below'].map(
    async (path) => [path, await tree.leadsTo(path)],
  )
  assert.deepEqual(Object.fromEntries(await Promise.all(answers)), {
    '/': true,
    '/top/top': true,
    '/top/dangling': false,
    '/out': false,
    '/out/kept': false,
    '/circle': false,
    '/circle/below': false,
  })
})

test('permissions of a directory that a mask has replaced do not fall on what the mask leads to', async (t) => {
  const { root } = await site(t)
  const before = (await stat('/dev/null')).mode
  const own = config({
    storage: { directories: [{ path: '/etc/systemd/system/a.service', mode: 0o700 }] },
    systemd: { units: [{ name: 'a.service', mask: true }] },
  })
  await make(own, root)
  assert.equal(await readlink(join(root, 'etc/systemd/system/a.service')), '/dev/null')
  assert.equal((await stat('/dev/null')).mode, before)
})

test('links that go round in a circle are an error and no endless loop', async (t) => {
  const { root } = await site(t)
  await symlink('b', join(root, 'a'))
  await symlink('a', join(root, 'b'))
  await assert.rejects(make(withFiles('/a/file'), root, { isIntoExisting: true }), { code: 'FILE_UNWRITABLE' })
})

test('a directory without w is filled, and gets its permissions at last', async (t) => {
  const { root } = await site(t)
  const own = config({
    storage: {
      directories: [{ path: '/locked', mode: 0o555 }],
      files: [{ path: '/locked/a', mode: 0o400, contents: { source: 'data:,x' } }],
    },
  })
  await make(own, root)
  assert.equal((await stat(join(root, 'locked'))).mode & 0o7777, 0o555)
  assert.equal((await stat(join(root, 'locked/a'))).mode & 0o7777, 0o400)
  // So that it can be cleared away.
  await chmod(join(root, 'locked'), 0o755)
})

test('what a directory cannot have is told', async (t) => {
  const { root } = await site(t)
  const own = config(
    { kernelArguments: { shouldExist: ['quiet'] }, storage: { disks: [{ device: '/dev/sda' }] } },
    '3.3.0',
  )
  const { findings } = await make(own, root)
  assert.deepEqual(
    findings.map(({ id, severity, summary }) => [id, severity, summary]),
    [
      [
        'ignition.not-materialised',
        'info',
        'a directory has no disks, kernel arguments: what the config says of them is left out',
      ],
    ],
  )
})

test('enabled units are named in the preset; instances of a template in one line', async (t) => {
  const { root } = await site(t)
  const unit = (name: string, enabled: boolean) => ({ name, enabled })
  const units = [
    unit('b.service', true),
    unit('echo@two.service', true),
    unit('echo@one.service', true),
    unit('a.service', true),
  ]
  await make(config({ systemd: { units: [...units, unit('gone.service', false)] } }), root)
  const preset = await readFile(join(root, 'etc/systemd/system-preset/20-ignition.preset'), 'utf8')
  assert.equal(preset, 'enable a.service\nenable b.service\nenable echo@.service two one\n')
})

test('a unit that the system has enabled loses its links, and is told to stay so; one that is not needs no line', async (t) => {
  const { root } = await site(t)
  const units = join(root, 'usr/lib/systemd/system')
  const wants = join(root, 'etc/systemd/system/multi-user.target.wants')
  for (const folder of [units, wants]) await mkdir(folder, { recursive: true })
  const text = '[Service]\n[Install]\nWantedBy=multi-user.target\n'
  for (const one of ['on.service', 'off.service']) await writeFile(join(units, one), text)
  await symlink('/usr/lib/systemd/system/on.service', join(wants, 'on.service'))
  const own = config({
    systemd: { units: ['on.service', 'off.service'].map((one) => ({ name: one, enabled: false })) },
  })
  await make(own, root, { isIntoExisting: true })
  assert.deepEqual(await readdir(wants), [])
  const preset = await readFile(join(root, 'etc/systemd/system-preset/20-ignition.preset'), 'utf8')
  assert.equal(preset, 'disable on.service\n')
})

test('links of units are made where that is asked for, and those that cannot be are told', async (t) => {
  const { root } = await site(t)
  const contents = '[Service]\n[Install]\nWantedBy=multi-user.target\n'
  const units = [
    { name: 'a.service', enabled: true, contents },
    { name: 'b.service', enabled: true },
  ]
  const { findings } = await make(config({ systemd: { units } }), root, { areUnitsEnabled: true })
  assert.equal(
    await readlink(join(root, 'etc/systemd/system/multi-user.target.wants/a.service')),
    '/etc/systemd/system/a.service',
  )
  assert.deepEqual(
    findings.map(({ id, summary }) => [id, summary.split(',')[0]]),
    [['ignition.unit-absent', 'b.service is to be enabled']],
  )
})

test('configs of specification 2 are materialised too, a path that comes twice appends', async (t) => {
  const { root } = await site(t)
  const text = JSON.stringify({
    ignition: { version: '2.2.0' },
    storage: {
      files: [
        { filesystem: 'root', path: '/etc/motd', mode: 420, contents: { source: 'data:,one%0A' } },
        { filesystem: 'root', path: '/etc/motd', append: true, contents: { source: 'data:,two%0A' } },
      ],
    },
    systemd: { units: [{ name: 'a.service', enabled: true, contents: '[Unit]\n' }] },
  })
  await make(readIgnitionConfig(text, 'two.ign').config, root)
  assert.equal(await readFile(join(root, 'etc/motd'), 'utf8'), 'one\ntwo\n')
  assert.equal(await readFile(join(root, 'etc/systemd/system/a.service'), 'utf8'), '[Unit]\n')
})

const name = fc.constantFrom('a', 'b', 'c', 'd')
const linkTarget = fc
  .tuple(fc.constantFrom('', '/', '../', '../../', '../../../../../../../../'), fc.array(name, { maxLength: 2 }))
  .map(([start, names]) => `${start}${names.join('/')}` || '.')
const places = ['a', 'b', 'c', 'd/a', 'd/b']

test('no path leaves the tree, whatever links are in it', async (t) => {
  const counts = { written: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(linkTarget, { minLength: places.length, maxLength: places.length }),
      fc.array(fc.constantFrom('a', 'b', 'c', 'd', '..'), { minLength: 1, maxLength: 4 }),
      async (targets, path) => {
        const { root, outside } = await site(t)
        await mkdir(join(root, 'd'))
        for (const [index, place] of places.entries()) await symlink(targets[index] ?? '', join(root, place))
        const tree = new RootedTree(root)
        try {
          await tree.writeNew(await tree.resolve(`/${path.join('/')}/new`), 'x', 0o644)
          counts.written += 1
        } catch (error) {
          assert.ok(error instanceof KnownError)
        }
        assert.deepEqual(await readdir(outside), ['kept'])
        assert.deepEqual((await readdir(join(root, '..'))).sort(), ['inside', 'outside'])
      },
    ),
    { numRuns: 150 },
  )
  assert.ok(counts.written > 30, String(counts.written))
})
