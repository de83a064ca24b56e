/**
 * A directory that stands for `/` of a machine: every path is resolved in it, and nothing outside it is touched.
 *
 * Symbolic links on the way are followed as the machine would follow them, an absolute one from the root of the tree. What
 * resolved once is checked again before it is written to, so that a link that came into being in between is not followed.
 *
 * Source: coreos/ignition `internal/exec/util/path.go:JoinPath`; unlike there, links of links are followed too.
 */
import { constants } from 'node:fs'
import { lstat, mkdir, open, readFile, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { ifThere } from '../../store/presence.ts'

const directoryMode = 0o755
/** As the kernel has it (MAXSYMLINKS). */
const maxLinks = 40

export class RootedTree {
  /** The directory itself: an absolute path of this machine. */
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  /**
   * The path of the tree where `path` leads to; the last part itself is not followed.
   *
   * @returns an absolute path of the tree without links on the way
   * @throws KnownError FILE_UNWRITABLE where links go round in a circle
   */
  async resolve(path: string): Promise<string> {
    const names = namesOf(path)
    const last = names.pop()
    const folder = await this.#follow(names, path)
    return last === undefined ? folder : posix.join(folder, last)
  }

  /** As `resolve`, and the last part is followed too. */
  resolveWhole(path: string): Promise<string> {
    return this.#follow(namesOf(path), path)
  }

  async #follow(names: readonly string[], path: string): Promise<string> {
    const pending = [...names]
    const links = { count: 0 }
    const state = { at: '/' }
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      const next = posix.join(state.at, name)
      const target = await this.#linkTarget(next)
      if (target === undefined) {
        state.at = next
        continue
      }
      links.count += 1
      if (links.count > maxLinks) throw unwritable(path, 'its links go round in a circle')
      if (target.startsWith('/')) state.at = '/'
      pending.unshift(...target.split('/').filter((part) => part !== '' && part !== '.'))
    }
    return state.at
  }

  async #linkTarget(path: string): Promise<string | undefined> {
    try {
      return await readlink(join(this.root, path))
    } catch (error) {
      if (hasSystemCode(error, 'EINVAL', 'ENOENT', 'ENOTDIR')) return undefined
      throw error
    }
  }

  /**
   * The path on this machine of a path that was resolved before.
   *
   * @throws KnownError FILE_UNWRITABLE where a link stands on the way now
   */
  async place(resolved: string): Promise<string> {
    const names = namesOf(resolved)
    for (let count = 1; count < names.length; count += 1) {
      const folder = posix.join('/', ...names.slice(0, count))
      if ((await this.#linkTarget(folder)) !== undefined)
        throw unwritable(resolved, `${folder} has become a symbolic link, and is not followed`)
    }
    return join(this.root, resolved)
  }

  /** What is at a resolved path; undefined where nothing is. */
  async stat(resolved: string): Promise<Awaited<ReturnType<typeof lstat>> | undefined> {
    return ifThere(lstat(await this.place(resolved)))
  }

  /** Whether a path leads to anything, as access(2) says: a link that leads nowhere, or in a circle, does not. */
  async leadsTo(path: string): Promise<boolean> {
    try {
      return (await this.stat(await this.resolveWhole(path))) !== undefined
    } catch (error) {
      if (error instanceof KnownError) return false
      throw error
    }
  }

  /**
   * Makes a directory and those above it, with 0755 whatever the umask, where they are not there.
   *
   * @throws KnownError FILE_UNWRITABLE where something else is in the way
   */
  async makeDirectory(resolved: string): Promise<void> {
    const names = namesOf(resolved)
    for (let count = 0; count <= names.length; count += 1) {
      const folder = posix.join('/', ...names.slice(0, count))
      const there = await this.stat(folder)
      if (there?.isDirectory()) continue
      if (there) throw unwritable(resolved, `${folder} is there already, and is no directory`)
      await mkdir(await this.place(folder))
      await this.setMode(folder, directoryMode)
    }
  }

  /** Of a file or directory; by the open file, because `chmod` would follow a link. */
  async setMode(resolved: string, mode: number): Promise<void> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
    const file = await open(await this.place(resolved), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    await file.chmod(mode).finally(() => file.close())
  }

  async makeParent(resolved: string): Promise<void> {
    await this.makeDirectory(posix.dirname(resolved))
  }

  /** Makes a new file, and the directories above it. */
  async writeNew(resolved: string, content: Uint8Array | string, mode: number): Promise<void> {
    await this.makeParent(resolved)
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    const file = await open(await this.place(resolved), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
    try {
      await file.writeFile(content)
      await file.chmod(mode)
    } finally {
      await file.close()
    }
  }

  /** Appends to a file that is there. */
  async append(resolved: string, content: Uint8Array | string): Promise<void> {
    const { O_WRONLY, O_APPEND, O_NOFOLLOW } = constants
    const file = await open(await this.place(resolved), O_WRONLY | O_APPEND | O_NOFOLLOW)
    await file.writeFile(content).finally(() => file.close())
  }

  /** The text of a file of the tree; undefined where there is none. Links are followed inside of it. */
  async readText(path: string): Promise<string | undefined> {
    const resolved = await this.resolveWhole(path)
    const there = await this.stat(resolved)
    return there?.isFile() ? await readFile(await this.place(resolved), 'utf8') : undefined
  }
}

function namesOf(path: string): string[] {
  return posix
    .normalize(`/${path}`)
    .split('/')
    .filter((name) => name !== '')
}

function unwritable(path: string, why: string): KnownError {
  return new KnownError('FILE_UNWRITABLE', `${path}: ${why}`, {
    details: { file: path },
    hint: 'Take the link out of the directory or out of the config: Ignition refuses paths below links of the same config.',
  })
}
