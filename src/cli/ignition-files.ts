/** Ignition configs on the disk: read, and written with the permissions of the one that they are made of. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readTextFile } from '../config/yaml-document.ts'
import { writeStaged } from '../store/staged-write.ts'

export interface IgnitionFile {
  /** As the user named it. */
  readonly name: string
  readonly text: string
  /** Permission bits of what is made of it, which holds the same secrets: its own, and its owner may write. */
  readonly mode: number
}

/** @throws KnownError FILE_UNREADABLE */
export async function readIgnitionFile(name: string, cwd: string): Promise<IgnitionFile> {
  const path = resolve(cwd, name)
  const text = await readTextFile(path)
  return { name, text, mode: ((await stat(path)).mode & 0o777) | 0o200 }
}

/** @throws KnownError DISK_FULL */
export async function writeIgnitionFile(path: string, text: string | Uint8Array, mode: number): Promise<void> {
  await writeStaged(path, async (file) => {
    await file.chmod(mode)
    await file.writeFile(text)
    await file.sync()
  })
}
