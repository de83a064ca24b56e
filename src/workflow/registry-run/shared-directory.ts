import {
  access,
  chmod,
  constants,
  copyFile,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasSystemCode } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import { diskError } from '../../store/disk.ts'
import { ifThere } from '../../store/presence.ts'
import { writeFlushed } from '../../store/staged-write.ts'
import { removeTree } from './tree-removal.ts'

/** Each waits for the disk: together they wait once. */
const copiesAtATime = 16

/** Larger files are copied, and not compared. */
const comparedBytes = 1024 * 1024

/** What a Secret of Kubernetes holds at most, in which ci-operator carries the directory from step to step. */
const usualLimitBytes = 1024 * 1024

/**
 * SHARED_DIR of a run: each step works on a copy, which afterwards replaces all of it.
 *
 * A file beside it names the copy that is out. Where a crash has left one, what the step had written until then is taken
 * over: files that say what a teardown has to remove are written before it is made.
 */
export class SharedDirectory {
  readonly path: string
  readonly #marker: string
  readonly #root: string
  /** The copy that is with a step of this process. */
  #lent: string | undefined
  #toldBytes = 0
  #last: Promise<unknown> = Promise.resolve()

  /** @param path in the directory of the run; copies have to be within that, too */
  constructor(path: string) {
    this.path = path
    this.#root = dirname(path)
    this.#marker = `${path}.out`
  }

  /** Makes a copy for a step that may change it. */
  lend(copy: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#settle()
      await copyFlat(this.path, copy)
      // As the copy is: one without bytes would name none.
      await writeFlushed(this.#marker, copy.slice(this.#root.length + 1), 0o600)
      this.#lent = copy
    })
  }

  /** Makes a copy for somebody who only reads. */
  snapshot(copy: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#lent === undefined) await this.#settle()
      await copyFlat(this.path, copy)
    })
  }

  /** Takes over what a step has in its copy just now, and leaves it the copy. */
  update(copy: string): Promise<unknown> {
    return this.#inTurn(() => this.#replace(copy))
  }

  /** Takes over what a step has left in its copy. Resolves with warnings: what was not taken, and why. */
  takeBack(copy: string): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      this.#lent = undefined
      const { left, bytes } = await this.#replace(copy)
      await rm(this.#marker, { force: true })
      // Once for a size: steps that have nothing to do with it are many.
      const isNew = bytes > usualLimitBytes && bytes !== this.#toldBytes
      this.#toldBytes = bytes
      return isNew ? [...left, tooLarge(bytes)] : left
    })
  }

  async #settle(): Promise<void> {
    const marked = await ifThere(readFile(this.#marker, 'utf8'))
    if (marked === undefined) return
    const copy = join(this.#root, marked)
    // What it names is removed in the end: nothing but a copy may be, whatever a power cut or another machine has left there.
    if (isCopyOf(copy, this.#root)) {
      await this.#replace(copy)
      await removeTree(copy)
    }
    await rm(this.#marker, { force: true })
  }

  /** A crash within it is followed by another with the same copy: the marker is there until it has ended. */
  async #replace(copy: string): Promise<Copied> {
    const next = `${this.path}.next`
    const old = `${this.path}.old`
    const state = await copyState(copy)
    // A script that takes away its own SHARED_DIR changes nothing (openshift/ci-tools: cmd/entrypoint-wrapper `createSecret`).
    if (state === 'absent') return { left: [], bytes: 0 }
    if (state === 'no directory') return { left: ['SHARED_DIR is not kept: it is no directory any more'], bytes: 0 }
    await rm(next, { recursive: true, force: true })
    const copied = await copyFlat(copy, next, this.path)
    await rm(old, { recursive: true, force: true })
    await mkdir(this.path, { recursive: true, mode: 0o700 })
    await rename(this.path, old)
    await rename(next, this.path)
    await rm(old, { recursive: true, force: true })
    return copied
  }

  #inTurn<Result>(action: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(action)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/** Copies of steps lie below their state (`attemptPlaces`). */
function isCopyOf(copy: string, root: string): boolean {
  const states = join(root, 'state/')
  return copy.startsWith(states) && copy !== states
}

type CopyState = 'there' | 'absent' | 'no directory'

/** Of one that its script has closed, too: it is opened. A link is none: it may lead anywhere. */
async function copyState(copy: string): Promise<CopyState> {
  try {
    const entry = await lstat(copy)
    if (!entry.isDirectory()) return 'no directory'
    if ((entry.mode & 0o700) !== 0o700) await chmod(copy, 0o700)
    return 'there'
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return 'absent'
    throw error
  }
}

interface Copied {
  /** A line for each thing that is left out. */
  readonly left: readonly string[]
  readonly bytes: number
}

function tooLarge(bytes: number): string {
  return `SHARED_DIR has ${bytes} bytes; ci-operator, which keeps it in a Secret, would refuse more than 1 MiB`
}

/**
 * Files alone, by their content.
 *
 * @param known holds files that are on disk for good, and that nobody writes to: what is the same is not written once more
 */
async function copyFlat(from: string, to: string, known?: string): Promise<Copied> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  const copies = await mapConcurrently((await readdir(from)).sort(), copiesAtATime, async (name) => {
    const why = await whyNotKept(join(from, name))
    if (why !== undefined) return `SHARED_DIR/${name} is not kept: ${why}`
    const paths = { from: join(from, name), to: join(to, name) }
    return (known === undefined ? undefined : await linkSame(paths, join(known, name))) ?? copyWhole(paths)
  })
  const sizes = copies.filter((copied) => typeof copied === 'number')
  return {
    left: copies.filter((copied) => typeof copied === 'string'),
    bytes: sizes.reduce((sum, size) => sum + size, 0),
  }
}

interface CopyPaths {
  readonly from: string
  readonly to: string
}

/** Its size; undefined where it is not the same as the known one, or cannot have another name there: copying says why. */
async function linkSame({ from, to }: CopyPaths, known: string): Promise<number | undefined> {
  try {
    const [one, other] = await Promise.all([stat(from), lstat(known)])
    const isAlike = other.isFile() && one.size === other.size && keptMode(one) === (other.mode & 0o777)
    if (!isAlike || one.size > comparedBytes) return undefined
    const [bytes, knownBytes] = await Promise.all([readFile(from), readFile(known)])
    if (!bytes.equals(knownBytes)) return undefined
    await link(known, to)
    return one.size
  } catch {
    return undefined
  }
}

async function whyNotKept(path: string): Promise<string | undefined> {
  try {
    const entry = await stat(path)
    if (entry.isDirectory()) return 'it is a directory, and only files are'
    if (!entry.isFile()) return 'it is no regular file'
    await access(path, constants.R_OK)
    return undefined
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT', 'ELOOP', 'EACCES')) throw error
    const isLink = await lstat(path).then(
      (entry) => entry.isSymbolicLink(),
      () => false,
    )
    return isLink ? 'it is a symbolic link to nothing' : 'it cannot be read'
  }
}

/** The next step may write to it, whatever this one has closed. */
function keptMode({ mode }: { readonly mode: number }): number {
  return (mode & 0o777) | 0o600
}

async function copyWhole({ from, to }: CopyPaths): Promise<number> {
  try {
    await copyFile(from, to)
    const file = await open(to, 'r')
    try {
      await file.datasync()
      const entry = await file.stat()
      if ((entry.mode & 0o600) !== 0o600) await file.chmod(keptMode(entry))
      return entry.size
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT')) return 0
    throw diskError(cause, to)
  }
}
