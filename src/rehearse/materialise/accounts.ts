/**
 * Users and groups, as Ignition has `groupadd`, `useradd` and `usermod` make them: written into the files of the tree, so that no
 * program of it has to run.
 *
 * Otherwise than there: passwords have no date of their last change, so that the same config makes the same tree; no ids for
 * containers (subuid, subgid) and no mail spool are given out; of a user who is there already the home is neither moved nor
 * given to another number; and in a tree without `/etc/group` the groups that a user is to be in are made.
 *
 * Source: coreos/ignition `internal/exec/util/passwd.go`.
 */
import { cp, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import type { IgnitionConfig, User, UserGroup } from '../../ignition/config.ts'
import { AccountFiles } from './account-files.ts'
import type { Workshop } from './storage-nodes.ts'
import { namesIn } from './unit-files.ts'

/** @throws KnownError IGNITION_INVALID for a group that is not there, FILE_UNWRITABLE */
export async function makeAccounts(passwd: IgnitionConfig['passwd'], shop: Workshop): Promise<void> {
  const { users = [], groups = [] } = passwd ?? {}
  if (users.length + groups.length === 0) return
  const files = await AccountFiles.read(shop.tree)
  for (const group of groups) makeGroup(group, files)
  const homes: { readonly user: User; readonly isNew: boolean }[] = []
  for (const user of users) {
    const isNew = files.find('passwd', user.name) === undefined
    if (user.shouldExist === false) {
      if (!isNew) await removeUser(user.name, files, shop)
      continue
    }
    makeUser(user, files, isNew)
    homes.push({ user, isNew })
  }
  await files.write()
  for (const { user, isNew } of homes) {
    const home = homeOf(user.name, files)
    if (isNew && user.noCreateHome !== true) await makeHome(home, files, shop)
    if (user.sshAuthorizedKeys?.length) await authorizeKeys(home, user.sshAuthorizedKeys, shop)
  }
}

function makeGroup({ name, gid, passwordHash, shouldExist, system }: UserGroup, files: AccountFiles): void {
  if (shouldExist === false) {
    files.remove('group', name)
    files.remove('gshadow', name)
    return
  }
  const [, , oldGid, members = ''] = files.find('group', name) ?? []
  const [, oldPassword = '!', admins = '', shadowed = members] = files.find('gshadow', name) ?? []
  const id = gid ?? oldGid ?? files.freeId('group', { isSystem: system === true })
  files.put('group', [name, 'x', String(id), members])
  files.put('gshadow', [name, passwordHash || oldPassword, admins, shadowed])
}

function makeUser(user: User, files: AccountFiles, isNew: boolean): void {
  const { name, passwordHash } = user
  const old = files.find('passwd', name) ?? []
  const isSystem = user.system === true
  const uid = user.uid ?? (isNew ? files.freeId('passwd', { isSystem }) : Number(old[2]))
  const other = files.all('passwd').find(([own, , id]) => own !== name && id === String(uid))
  if (other) throw invalid(`user ${name}: ${other[0]} has the uid ${uid} already`)
  const gid = primaryGroup(user, files, isNew ? uid : undefined) ?? old[3] ?? ''
  const home = user.homeDir || old[5] || posix.join(files.setting('HOME', '/home'), name)
  const shell = user.shell || old[6] || files.setting('SHELL', '/bin/bash')
  files.put('passwd', [name, 'x', String(uid), String(gid), user.gecos || old[4] || '', home, shell])
  const [, oldHash = '*', ...aging] = files.find('shadow', name) ?? [name, '*', ...agingOf(files, isSystem)]
  files.put('shadow', [name, typeof passwordHash === 'string' ? passwordHash || '*' : oldHash, ...aging])
  if (user.groups?.length) joinGroups(name, user.groups, files)
}

/** Days between changes; the date of the last one stays empty. */
function agingOf(files: AccountFiles, isSystem: boolean): readonly string[] {
  if (isSystem) return ['', '', '', '', '', '', '']
  const days = ['PASS_MIN_DAYS', 'PASS_MAX_DAYS', 'PASS_WARN_AGE'].map((name) => files.setting(name, ''))
  return ['', ...days, '', '', '']
}

/** @param ownId for a new user: the number of the group of its own, where that is free */
function primaryGroup(user: User, files: AccountFiles, ownId: number | undefined): string | undefined {
  const { name, primaryGroup: wanted } = user
  if (wanted) {
    const line = files.find('group', wanted) ?? files.all('group').find(([, , id]) => id === wanted)
    if (!line) throw noGroup(name, wanted)
    return line[2]
  }
  if (ownId === undefined) return undefined
  if (user.noUserGroup === true) return files.setting('GROUP', '100')
  if (files.find('group', name))
    throw invalid(`user ${name}: there is a group ${name} already; say which primaryGroup it is to have`)
  const gid = files.freeId('group', { isSystem: user.system === true, wanted: ownId })
  files.put('group', [name, 'x', String(gid), ''])
  files.put('gshadow', [name, '!', '', ''])
  return String(gid)
}

/** In these and no other groups, as `usermod --groups` has it. */
function joinGroups(name: string, groups: readonly string[], files: AccountFiles): void {
  for (const group of groups) {
    if (files.find('group', group)) continue
    if (!files.areFresh) throw noGroup(name, group)
    makeGroup({ name: group, system: true }, files)
  }
  for (const [group = '', password = '', id = '', members = ''] of [...files.all('group')]) {
    const old = members.split(',').filter((member) => member !== '')
    const isMember = groups.includes(group)
    if (isMember === old.includes(name)) continue
    const own = (isMember ? [...old, name] : old.filter((member) => member !== name)).join(',')
    files.put('group', [group, password, id, own])
    const [, hash = '!', admins = ''] = files.find('gshadow', group) ?? []
    files.put('gshadow', [group, hash, admins, own])
  }
}

async function removeUser(name: string, files: AccountFiles, { tree }: Workshop): Promise<void> {
  const home = await tree.resolve(homeOf(name, files).path)
  files.remove('passwd', name)
  files.remove('shadow', name)
  joinGroups(name, [], files)
  // The group of its own goes with it, unless somebody else is in it.
  if (files.find('group', name)?.[3] === '') {
    files.remove('group', name)
    files.remove('gshadow', name)
  }
  if (home !== '/') await rm(await tree.place(home), { recursive: true, force: true })
}

interface Home {
  readonly path: string
  readonly uid: number
  readonly gid: number
}

function homeOf(name: string, files: AccountFiles): Home {
  const [, , uid, gid, , path = '/'] = files.find('passwd', name) ?? []
  return { path, uid: Number(uid), gid: Number(gid) }
}

async function makeHome(home: Home, files: AccountFiles, { tree, owners }: Workshop): Promise<void> {
  const at = await tree.resolve(home.path)
  if (await tree.stat(at)) return
  await tree.makeDirectory(at)
  const skeleton = await tree.resolveWhole(files.setting('SKEL', '/etc/skel'))
  for (const name of await namesIn(tree, skeleton)) {
    const source = await tree.place(posix.join(skeleton, name))
    await cp(source, join(await tree.place(at), name), { recursive: true, verbatimSymlinks: true })
  }
  await giveAll(at, home, { tree, owners })
  const umask = Number.parseInt(files.setting('UMASK', '022'), 8)
  const mode = Number.parseInt(files.setting('HOME_MODE', (0o777 & ~umask).toString(8)), 8)
  await tree.setMode(at, mode)
}

async function giveAll(at: string, home: Home, shop: Pick<Workshop, 'tree' | 'owners'>): Promise<void> {
  await shop.owners.giveTo(at, home)
  if (!(await shop.tree.stat(at))?.isDirectory()) return
  for (const name of await namesIn(shop.tree, at)) await giveAll(posix.join(at, name), home, shop)
}

/** As a fragment, which the sshd of CoreOS reads beside `authorized_keys`. */
async function authorizeKeys(home: Home, keys: readonly string[], { tree, owners }: Workshop): Promise<void> {
  for (const folder of ['.ssh', '.ssh/authorized_keys.d']) {
    const at = await tree.resolve(posix.join(home.path, folder))
    if (await tree.stat(at)) continue
    await tree.makeDirectory(at)
    await tree.setMode(at, 0o700)
    await owners.giveTo(at, home)
  }
  const at = await tree.resolve(posix.join(home.path, '.ssh/authorized_keys.d/ignition'))
  await rm(await tree.place(at), { force: true })
  const text = keys.join('\n')
  await tree.writeNew(at, text.endsWith('\n') ? text : `${text}\n`, 0o600)
  await owners.giveTo(at, home)
}

function noGroup(user: string, group: string): KnownError {
  return invalid(`user ${user}: there is no group ${group} in /etc/group of the directory`)
}

function invalid(why: string): KnownError {
  return new KnownError('IGNITION_INVALID', why, {
    hint: 'useradd would refuse it too, and Ignition stop the boot. Groups that the system lacks go into passwd.groups of the config.',
  })
}
