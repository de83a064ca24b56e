/** Which networks are in use on this machine, as far as files say. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode } from '../../errors/known-error.ts'
import { machineAddresses } from '../../host/network.ts'
import { subnetOf } from './lab-addresses.ts'
import { namespaceName } from './lab-plan.ts'

const labAddress = /\b198\.1[89]\.\d+\.\d+\b/g

/** Numbers of /24 networks of 198.18.0.0/15: of the machine itself, its routes, and other namespaces with hosts files. */
export async function takenSubnets(): Promise<ReadonlySet<number>> {
  const routes = await readText('/proc/net/route')
  const hosts = await Promise.all(
    (await namesIn('/etc/netns')).map((name) => readText(join('/etc/netns', name, 'hosts'))),
  )
  const addresses = [
    ...machineAddresses(),
    ...routeDestinations(routes),
    ...hosts.flatMap((text) => text.match(labAddress) ?? []),
  ]
  return new Set(addresses.map(subnetOf).filter((subnet) => subnet !== undefined))
}

/** The network of a lab that is there, also when its directory is gone. */
export async function subnetOfLab(id: string): Promise<number | undefined> {
  const hosts = await readText(join('/etc/netns', namespaceName(id, 'bastion'), 'hosts'))
  return (hosts.match(labAddress) ?? []).map(subnetOf)[0]
}

/** Of /proc/net/route: second column, hexadecimal in the order of bytes of the machine (proc(5)). */
export function routeDestinations(table: string): readonly string[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const hex = line.split(/\s+/)[1] ?? ''
      if (!/^[0-9A-F]{8}$/.test(hex)) return []
      const bytes = [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
      return [bytes.join('.')]
    })
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return []
    throw error
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return ''
    throw error
  }
}
