/** Whether something is at a path: an absent one is an answer, not an error. What cannot be looked at is an error. */
import { lstat, stat } from 'node:fs/promises'
import { hasSystemCode } from '../errors/known-error.ts'

/** What `reading` gives; undefined where its path does not exist, or leads in a circle. */
export async function ifThere<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  try {
    return await reading
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined
    throw error
  }
}

/** The size of a file in bytes; undefined where there is none. */
export async function sizeIfThere(path: string): Promise<number | undefined> {
  return (await ifThere(stat(path)))?.size
}

/** Whether the path leads to anything: a link that leads nowhere does not. */
export async function isThere(path: string): Promise<boolean> {
  return (await ifThere(stat(path))) !== undefined
}

/** Whether the name is taken, be it by a link that leads nowhere: what is made there would take its place. */
export async function isTaken(path: string): Promise<boolean> {
  return (await ifThere(lstat(path))) !== undefined
}
