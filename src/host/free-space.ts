/** Is there room for what is about to be written, asked before the first byte of it. */
import { stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'

/** Something that is going to be written. */
export interface SpaceNeed {
  /** File or directory; it need not exist yet. */
  readonly path: string
  /** Bytes that come on top of what is there already. */
  readonly neededBytes: number
  /** For the message: `the archive`, `the workspace`. */
  readonly what: string
}

export interface FreeSpace {
  /** The nearest directory above that exists. */
  readonly path: string
  /** The same for every path of one filesystem. */
  readonly device: number
  /** What this user may still write; undefined where the filesystem does not tell. A quota is not seen. */
  readonly availableBytes: number | undefined
}

/** What is free on the filesystem that holds `path`, or would hold it. */
export async function freeSpaceAt(path: string): Promise<FreeSpace> {
  let place = resolve(path)
  for (;;) {
    try {
      const { dev: device } = await stat(place)
      const { bavail, bsize, blocks } = await statfs(place)
      return { path: place, device, availableBytes: blocks === 0 ? undefined : bavail * bsize }
    } catch (error) {
      const above = dirname(place)
      if (!hasSystemCode(error, 'ENOENT', 'ENOTDIR') || above === place) throw error
      place = above
    }
  }
}

/**
 * Adds up what is needed on each filesystem.
 *
 * @throws KnownError DISK_FULL that names every place without enough room
 */
export async function checkFreeSpace(needs: readonly SpaceNeed[]): Promise<void> {
  const found = await Promise.all(needs.map(async (need) => ({ need, space: await freeSpaceAt(need.path) })))
  const short = [...Map.groupBy(found, ({ space }) => space.device).values()].flatMap((group) => {
    const neededBytes = group.reduce((sum, { need }) => sum + need.neededBytes, 0)
    const availableBytes = group[0]?.space.availableBytes
    const isShort = availableBytes !== undefined && neededBytes > availableBytes
    return isShort ? [{ neededBytes, availableBytes, needs: group.map(({ need }) => need) }] : []
  })
  const [first] = short
  if (!first) return
  throw new KnownError('DISK_FULL', `Not enough space, nothing was written: ${short.map(describe).join('; ')}`, {
    details: {
      path: first.needs[0]?.path,
      neededBytes: first.neededBytes,
      availableBytes: first.availableBytes,
    },
    hint: `Free at least ${spoken(first.neededBytes - first.availableBytes)} on the disk of ${first.needs[0]?.path}, or name another place; then run the same command again.`,
  })
}

interface Shortage {
  readonly neededBytes: number
  readonly availableBytes: number
  readonly needs: readonly SpaceNeed[]
}

function describe({ neededBytes, availableBytes, needs }: Shortage): string {
  const parts = needs
    .filter((need) => need.neededBytes > 0)
    .map(({ what, path, neededBytes: bytes }) => `${what} at ${path} needs ${spoken(bytes)}`)
  const together = parts.length > 1 ? `, together ${spoken(neededBytes)}` : ''
  return `${parts.join(' and ')}${together}, and that disk has ${spoken(availableBytes)} free`
}

/** Rounded up, so that what is asked for is enough. */
function spoken(bytes: number): string {
  const mebibytes = Math.ceil(bytes / 2 ** 20)
  return mebibytes < 10 * 1024 ? `${mebibytes} MiB` : `${Math.ceil(bytes / 2 ** 30)} GiB`
}
