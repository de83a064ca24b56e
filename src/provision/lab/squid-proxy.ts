/** A real squid on the bastion of a lab. */
import { createHash } from 'node:crypto'
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { htpasswdLine } from '../../registry/htpasswd.ts'
import { isThere } from '../../store/presence.ts'
import type { Making, ProxyOptions, ServingProcess } from '../provider.ts'
import { makeLabDirectory } from './lab-directory.ts'
import { type LabHost, systemEnv } from './lab-programs.ts'
import { type LabServers, serveInLab } from './lab-servers.ts'
import type { LabUndo } from './lab-undo.ts'
import { renderSquidConf } from './squid-conf.ts'
import { squidServiceName } from './squid-memory.ts'

export interface SquidPlace extends LabServers {
  /** Path of squid; undefined where it is not installed. */
  readonly squid: string | undefined
  /** Where it may write. squid gives up the rights of root, so every folder above must let others through. */
  readonly folder: string
  readonly addresses: readonly string[]
  /** Of who starts it. */
  readonly uid: number
}

/** Accounts that packages of squid make: Debian, Red Hat. */
const accounts = ['proxy', 'squid'] as const
const passwordPrograms = ['/usr/lib/squid', '/usr/lib64/squid', '/usr/libexec/squid'].map((folder) =>
  join(folder, 'basic_ncsa_auth'),
)

/** @throws KnownError LAB_UNAVAILABLE where squid is not installed; LAB_FAILED where it does not start */
export async function serveSquid(
  host: LabHost,
  { port, username, password }: ProxyOptions,
  { squid, folder, addresses, uid, ...place }: SquidPlace & Making,
): Promise<ServingProcess & { readonly accessLog: string }> {
  const passwordProgram = await firstThere(passwordPrograms)
  if (squid === undefined || passwordProgram === undefined) {
    throw new KnownError('LAB_UNAVAILABLE', 'A proxy is asked for, and squid is not installed', {
      hint: 'Install the package squid, or leave the proxy out of the configuration.',
    })
  }
  await place.record({ kind: 'lab-directory', lab: place.lab, path: folder } satisfies LabUndo)
  const account = uid === 0 ? await squidAccount() : undefined
  await makeLabDirectory(folder, place.lab, 0o711)
  const own = join(folder, 'squid')
  await mkdir(own, { recursive: true })
  await chmod(own, 0o700)
  const files = {
    passwords: await htpasswdLine(username, password),
    'squid.conf': renderSquidConf({
      listen: addresses.map((address) => `${address}:${port}`),
      folder: own,
      passwordProgram,
      user: account?.name,
    }),
  }
  for (const [name, content] of Object.entries(files)) await writeOwned(join(own, name), content, account)
  if (account !== undefined) await chown(own, account.uid, account.gid)
  const conf = join(own, 'squid.conf')
  const served = await serveInLab(
    host,
    {
      site: 'bastion',
      name: 'squid',
      // The third word tells a changed configuration from the one that runs.
      argv: [squid, '-N', '-n', squidServiceName(place.lab), '-f', conf],
      env: { ...systemEnv(host.env), SQUID_CONF_DIGEST: digest(files['squid.conf']) },
      ports: [port],
    },
    place,
  )
  return { ...served, accessLog: join(own, 'access.log') }
}

interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** To whom squid gives its rights when root starts it. */
async function squidAccount(): Promise<Account | undefined> {
  const passwd = await readFile('/etc/passwd', 'utf8')
  const lines = passwd.split('\n').map((line) => line.split(':'))
  for (const wanted of accounts) {
    const [name, , uid, gid] = lines.find(([name]) => name === wanted) ?? []
    if (name !== undefined) return { name, uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

async function writeOwned(path: string, content: string, account: Account | undefined): Promise<void> {
  await writeFile(path, content, { mode: 0o600 })
  if (account !== undefined) await chown(path, account.uid, account.gid)
}

async function firstThere(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isThere(path)) return path
  return undefined
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
