import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the kit needs of a test: somewhere to leave its cleaning up. */
export interface Cleanup {
  after(action: () => unknown): void
}

/** An empty directory that is gone when `t` ends. */
export async function tempDir(t: Cleanup): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'sallyport-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}
