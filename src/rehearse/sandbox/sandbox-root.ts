/** The tree in which scripts run: what the config makes, the programs of the machine by name, and stand-ins for the others. */
import { chmod, mkdir, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode } from '../../errors/known-error.ts'
import { hostPrograms } from './host-programs.ts'
import { bashEnvironment, programFolders, standInFolder, standInProgram } from './launch-scripts.ts'

/** Programs that scripts name by their path, and those that `command -v` must find. The others are found without a file. */
export interface SandboxPrograms {
  readonly standIns: readonly string[]
}

/** @param root holds what the config makes already; nothing outside it is written */
export async function equipRoot(root: string, { standIns }: SandboxPrograms): Promise<void> {
  const folders = [
    '.old',
    'dev',
    'proc',
    'tmp',
    'run',
    'var/tmp',
    'etc',
    'root',
    'usr/bin',
    'usr/sbin',
    'usr/local/bin',
  ]
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true })
  await placePrograms(root)
  const own = join(root, standInFolder)
  for (const folder of ['calls', 'replies']) await mkdir(join(own, folder), { recursive: true })
  await writeFile(join(own, 'stand-in'), standInProgram, { mode: 0o755 })
  await writeFile(join(own, 'bash-env'), bashEnvironment)
  const real = new Set(await linkHostPrograms(root))
  for (const name of standIns) {
    const target = real.has(name) ? `../bin/${name}` : `${standInFolder}/stand-in`
    await replaceWithLink(join(root, 'usr/sbin', name), target)
    if (!real.has(name)) await replaceWithLink(join(root, 'usr/bin', name), target)
  }
  await placeAccounts(root)
}

/** `/lib64` and its like as on the machine, below `/.host`, where programs look for their libraries. */
async function placePrograms(root: string): Promise<void> {
  await mkdir(join(root, '.host/usr'), { recursive: true })
  for (const folder of programFolders) {
    const own = await linkTarget(`/${folder}`)
    if (own === undefined) continue
    if (own === 'folder') await mkdir(join(root, '.host', folder), { recursive: true })
    const isPrograms = folder === 'bin' || folder === 'sbin'
    await replaceWithLink(
      join(root, folder),
      isPrograms ? `usr/${folder}` : `/.host/${own === 'folder' ? folder : own}`,
    )
  }
  for (const folder of await readdir('/usr')) {
    if (!/^lib|^share$/.test(folder)) continue
    await replaceWithLink(join(root, 'usr', folder), `/.host/usr/${folder}`)
  }
  try {
    await writeFile(join(root, 'etc/ld.so.cache'), await readFile('/etc/ld.so.cache'))
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT', 'EACCES')) throw error
  }
}

/** `usr/lib` where it is a link, `folder` where it is one, undefined where it is not there. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await readlink(path)).replace(/^\//, '')
  } catch (error) {
    if (hasSystemCode(error, 'EINVAL')) return 'folder'
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** @returns the names that this machine has */
async function linkHostPrograms(root: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of hostPrograms) {
    const path = await hostProgram(name)
    if (path === undefined) continue
    await replaceWithLink(join(root, 'usr/bin', name), `/.host${path}`)
    found.push(name)
  }
  // On the host of a bootstrap sh is bash, and its scripts count on that.
  const bash = await hostProgram('bash')
  if (bash !== undefined) await replaceWithLink(join(root, 'usr/bin/sh'), `/.host${bash}`)
  return found
}

/** Where a program really is, through the links of `/etc/alternatives`; undefined where the machine has none. */
export async function hostProgram(name: string): Promise<string | undefined> {
  for (const folder of ['/usr/bin', '/usr/sbin', '/bin', '/sbin']) {
    try {
      return await realpath(join(folder, name))
    } catch (error) {
      if (!hasSystemCode(error, 'ENOENT', 'ENOTDIR')) throw error
    }
  }
  return undefined
}

async function placeAccounts(root: string): Promise<void> {
  const accounts = { passwd: 'root:x:0:0:root:/root:/bin/bash\n', group: 'root:x:0:\n', hostname: 'bootstrap\n' }
  for (const [name, text] of Object.entries(accounts)) {
    await writeFile(join(root, 'etc', name), text, { flag: 'wx' }).catch((error: unknown) => {
      if (!hasSystemCode(error, 'EEXIST')) throw error
    })
  }
  await chmod(join(root, 'tmp'), 0o1777)
}

async function replaceWithLink(path: string, target: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
  await symlink(target, path)
}
