/** Directories of a lab. A file in each says whose it is, so that no undo record makes anything else go. */
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { ifThere, isTaken } from '../../store/presence.ts'

const markFile = '.sallyport-lab'

/** What a lab has outside of its directory: nobody but its processes needs it, and a restart of the machine removes it. */
export function stateFolderOf(lab: string): string {
  return `/run/sallyport-${lab}`
}

/** @throws KnownError LAB_FAILED where another lab, or anything else, is there */
export async function makeLabDirectory(path: string, lab: string, mode = 0o700): Promise<void> {
  await mkdir(path, { recursive: true, mode })
  const owner = await ownerOf(path)
  if (owner === undefined && (await readdir(path)).length > 0) {
    throw new KnownError('LAB_FAILED', `${path} has files that are not of a lab`, {
      hint: 'Give the lab a directory of its own: it is removed with the lab.',
    })
  }
  if (owner !== undefined && owner !== lab) {
    throw new KnownError('LAB_FAILED', `${path} belongs to the lab "${owner}"`, {
      hint: 'Give each lab a directory of its own.',
    })
  }
  await writeFile(join(path, markFile), lab)
  await chmod(path, mode)
}

/** True where it was there. @throws KnownError LAB_FAILED where it is not this lab's */
export async function removeLabDirectory(path: string, lab: string): Promise<boolean> {
  if (!(await isTaken(path))) return false
  const owner = await ownerOf(path)
  const isEmpty = owner === undefined && (await readdir(path)).length === 0
  if (owner !== lab && !isEmpty) {
    throw new KnownError('LAB_FAILED', `${path} is not removed: it is not a directory of the lab "${lab}"`, {
      hint: 'Look at what is in it, and remove it by hand where nobody needs it.',
    })
  }
  // The mark goes last: what was begun and not ended can be removed again.
  for (const entry of await readdir(path)) {
    if (entry !== markFile) await rm(join(path, entry), { recursive: true, force: true })
  }
  await rm(path, { recursive: true, force: true })
  return true
}

/** True where it was there; nothing outside of a directory of this lab is touched. */
export async function removeLabFile(path: string, lab: string): Promise<boolean> {
  if (!(await isTaken(path))) return false
  let folder = dirname(path)
  while ((await ownerOf(folder)) !== lab) {
    const above = dirname(folder)
    if (above === folder) throw new KnownError('LAB_FAILED', `${path} is not removed: it is not of the lab "${lab}"`)
    folder = above
  }
  await rm(path, { force: true })
  return true
}

function ownerOf(path: string): Promise<string | undefined> {
  return ifThere(readFile(join(path, markFile), 'utf8'))
}
