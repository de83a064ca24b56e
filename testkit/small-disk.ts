import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export interface SmallDisk {
  readonly path: string
  /** Makes room. */
  free(): Promise<void>
}

const usualBytes = 4 * 1024 * 1024

/**
 * A disk of its own with `freeBytes` left; undefined after the test was marked as skipped, since only root may mount.
 */
export async function smallDisk(
  t: Pick<TestContext, 'after' | 'skip'>,
  freeBytes: number,
): Promise<SmallDisk | undefined> {
  const diskBytes = Math.max(usualBytes, freeBytes)
  const path = await mkdtemp(join(tmpdir(), 'sallyport-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'sallyport-test', path], { stdio: 'pipe' })
  } catch {
    // Where a mount is not allowed, or there is no such program.
    await rm(path, { recursive: true })
    t.skip('a small disk cannot be mounted here')
    return undefined
  }
  t.after(() => {
    execFileSync('umount', ['--lazy', path])
    return rm(path, { recursive: true })
  })
  const filler = join(path, 'filler')
  await writeFile(filler, Buffer.alloc(diskBytes - freeBytes))
  return { path, free: () => rm(filler) }
}
