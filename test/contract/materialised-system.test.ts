/**
 * What Ignition has other programs do, and we do ourselves: accounts against `useradd` and its like, links of units against
 * `systemctl`, both of them at work in a directory.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import type { User, UserGroup } from '../../src/ignition/config.ts'
import { enableUnit, isEnabledInTree } from '../../src/rehearse/materialise/enabled-units.ts'
import { materialise } from '../../src/rehearse/materialise/materialise.ts'
import { RootedTree } from '../../src/rehearse/materialise/rooted-tree.ts'
import { listTree } from '../../testkit/file-tree.ts'
import { peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const run = promisify(execFile)

async function makeSystem(root: string): Promise<void> {
  for (const folder of ['etc/default', 'etc/skel', 'home', 'root']) await mkdir(join(root, folder), { recursive: true })
  const files = {
    passwd:
      'root:x:0:0:root:/root:/bin/bash\ndaemon:x:2:2::/sbin:/sbin/nologin\nold:x:1000:1000:Old:/home/old:/bin/sh\n',
    shadow: 'root:*:19000::::::\ndaemon:*:19000::::::\nold:$6$x$y:19000:0:99999:7:::\n',
    group: 'root:x:0:\ndaemon:x:2:\nwheel:x:10:old\nusers:x:100:\nold:x:1000:\nsudo:x:27:\n',
    gshadow: 'root:::\ndaemon:::\nwheel:::old\nusers:::\nold:!::\nsudo:::\n',
    'login.defs':
      'UID_MIN 1000\nUID_MAX 60000\nGID_MIN 1000\nGID_MAX 60000\nSYS_UID_MIN 201\nSYS_UID_MAX 999\nSYS_GID_MIN 201\nSYS_GID_MAX 999\nUMASK 022\nHOME_MODE 0700\nUSERGROUPS_ENAB yes\nPASS_MAX_DAYS 99999\nPASS_MIN_DAYS 0\nPASS_WARN_AGE 7\nCREATE_HOME no\n',
    'default/useradd': 'GROUP=100\nHOME=/home\nSHELL=/bin/bash\nSKEL=/etc/skel\nCREATE_MAIL_SPOOL=no\n',
    'skel/.bashrc': 'hello\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'etc', name), text)
  for (const name of ['shadow', 'gshadow']) await chmod(join(root, 'etc', name), 0)
}

/** The arguments of coreos/ignition `internal/exec/util/passwd.go`. */
async function withPrograms(root: string, groups: readonly UserGroup[], users: readonly User[]): Promise<void> {
  const said = (flag: string, value: string | number | null | undefined) =>
    value === undefined || value === null || value === '' ? [] : [flag, String(value)]
  for (const { name, gid, passwordHash, system } of groups)
    await run('groupadd', [
      '--root',
      root,
      ...said('--gid', gid),
      ...said('--password', passwordHash),
      ...(system ? ['--system'] : []),
      name,
    ])
  for (const user of users) {
    const isOld = user.name === 'old'
    const flags = isOld
      ? []
      : [
          ...said('--home-dir', user.homeDir),
          user.noCreateHome ? '--no-create-home' : '--create-home',
          ...(user.noUserGroup ? ['--no-user-group'] : []),
          ...(user.system ? ['--system'] : []),
        ]
    const password = user.passwordHash === undefined && isOld ? [] : ['--password', user.passwordHash || '*']
    await run(isOld ? 'usermod' : 'useradd', [
      '--root',
      root,
      ...flags,
      ...password,
      ...said('--uid', user.uid),
      ...said('--comment', user.gecos),
      ...said('--gid', user.primaryGroup),
      ...said('--groups', user.groups?.join(',')),
      ...said('--shell', user.shell),
      user.name,
    ])
  }
}

async function accountsOf(root: string): Promise<object> {
  const files: Record<string, readonly string[]> = {}
  for (const name of ['passwd', 'shadow', 'group', 'gshadow']) {
    const lines = (await readFile(join(root, 'etc', name), 'utf8')).split('\n').filter((line) => line !== '')
    // The date of the last change is today there, and left out here.
    files[name] = lines.map((line) => (name === 'shadow' ? line.replace(/^([^:]*:[^:]*):\d*:/, '$1::') : line)).sort()
  }
  return { files, home: await listTree(join(root, 'home'), { withOwners: true }) }
}

const some = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values)
const account = {
  uid: some(1500, 1700),
  gecos: some('Core User'),
  groups: some(['wheel'], ['wheel', 'sudo'], ['mine']),
  primaryGroup: some('users', 'mine'),
  shell: some('/bin/zsh'),
  passwordHash: some('$6$salt$hash', ''),
}
const newUser = fc.record({
  ...account,
  name: fc.constantFrom('core', 'other', 'svc'),
  homeDir: some('/home/elsewhere'),
  noCreateHome: some(true),
  noUserGroup: some(true),
  system: some(true),
})
const oldUser = fc.record({ ...account, name: fc.constant('old'), uid: fc.constant(undefined) })
const users = fc
  .tuple(fc.uniqueArray(newUser, { selector: ({ name }) => name, maxLength: 3 }), fc.array(oldUser, { maxLength: 1 }))
  .map(([fresh, old]) => {
    const isFirst = (user: { readonly uid: number | undefined }, index: number) =>
      fresh.findIndex((other) => user.uid !== undefined && other.uid === user.uid) === index
    return [...fresh.map((user, index) => (isFirst(user, index) ? user : { ...user, uid: undefined })), ...old]
  })
  .map((all) => JSON.parse(JSON.stringify(all)) as readonly User[])

test('users and groups are what useradd, usermod and groupadd make of them', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('useradd works in a directory only for root')
  if (peer(t, 'useradd') === undefined) return
  const folder = await tempDir(t)
  await makeSystem(join(folder, 'system'))
  const counter = { count: 0 }
  await fc.assert(
    fc.asyncProperty(users, fc.constantFrom(undefined, 4000), async (all, gid) => {
      counter.count += 1
      const [theirs, ours] = ['theirs', 'ours'].map((name) => join(folder, `${name}-${counter.count}`)) as [
        string,
        string,
      ]
      for (const root of [theirs, ours]) await cp(join(folder, 'system'), root, { recursive: true })
      const groups: readonly UserGroup[] = [{ name: 'mine', ...(gid !== undefined ? { gid } : { system: true }) }]
      await withPrograms(theirs, groups, all)
      const config = { ignition: { version: '3.2.0' }, passwd: { users: all, groups } }
      const signal = AbortSignal.timeout(60_000)
      await materialise(config, ours, { owners: 'apply', isIntoExisting: true, signal })
      assert.deepEqual(await accountsOf(ours), await accountsOf(theirs))
    }),
    { numRuns: Number(process.env['SALLYPORT_USER_RUNS'] ?? 25) },
  )
})

const target = fc.constantFrom('multi-user.target', 'a.target b.target', '', 'x.service')
const installLine = fc.oneof(
  target.map((value) => `WantedBy=${value}`),
  target.map((value) => `RequiredBy=${value}`),
  fc.constantFrom('Alias=alias.service', 'Also=other.service', 'DefaultInstance=main'),
)
const unitText = fc.oneof(
  fc.constantFrom('', '[Service]\nExecStart=/bin/true\n', '[Unit]\nWantedBy=not.here\n'),
  fc
    .array(installLine, { maxLength: 4 })
    .map((lines) => `[Service]\nExecStart=/bin/true\n\n[Install]\n# a comment\n${lines.join('\n')}\n`),
)
const unitNames = ['one.service', 'plain@.service', 'one.service.d/10.conf']

test('units are enabled, and said to be, as systemctl does it', async (t) => {
  if (peer(t, 'systemctl') === undefined) return
  const folder = await tempDir(t)
  const counter = { count: 0 }
  await fc.assert(
    fc.asyncProperty(fc.tuple(unitText, unitText, unitText), async (texts) => {
      counter.count += 1
      const [theirs, ours] = ['theirs', 'ours'].map((name) => join(folder, `${name}-${counter.count}`)) as [
        string,
        string,
      ]
      for (const root of [theirs, ours]) {
        await mkdir(join(root, 'etc/systemd/system/one.service.d'), { recursive: true })
        await writeFile(
          join(root, 'etc/systemd/system/other.service'),
          '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n',
        )
        for (const [index, name] of unitNames.entries())
          await writeFile(join(root, 'etc/systemd/system', name), texts[index] ?? '')
      }
      const tree = new RootedTree(ours)
      const names = ['one.service', 'plain@inst.service', 'plain@.service', 'absent.service']
      for (const name of names) {
        const systemctl = (verb: string) =>
          run('systemctl', ['--root', theirs, verb, name]).then(
            () => true,
            () => false,
          )
        assert.equal(await isEnabledInTree(tree, name), await systemctl('is-enabled'), `${name} before`)
        await systemctl('enable')
        await enableUnit(tree, name)
        const [own, other] = [
          await listTree(ours, { withOwners: false }),
          await listTree(theirs, { withOwners: false }),
        ]
        assert.deepEqual(own, other, name)
        assert.equal(await isEnabledInTree(tree, name), await systemctl('is-enabled'), `${name} after`)
      }
    }),
    { numRuns: Number(process.env['SALLYPORT_UNIT_RUNS'] ?? 25) },
  )
})
