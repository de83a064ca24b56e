/**
 * What earlier runs left at a target: which repository holds a blob, and which uploads were cut.
 *
 * Two append-only files. A hint, never a proof: a blob is mounted only if the registry agrees, and an upload goes on
 * only from the offset that the registry names. A line cut by a crash is passed over.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { parsedJson } from '../errors/parsed-json.ts'
import type { UploadSession } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { digestText } from '../oci/digest-text.ts'
import { diskError } from '../store/disk.ts'
import { writeStaged } from '../store/staged-write.ts'
import { readIfPresent, type Workspace } from './workspace.ts'

const Line = z.object({
  target: z.string(),
  repository: z.string(),
  digest: digestText(),
  /** The location of an upload under way; null once the blob is there. */
  upload: z.string().nullable(),
})
type Line = z.infer<typeof Line>

export class Holdings {
  readonly #target: string
  readonly #path: string
  readonly #file: FileHandle
  readonly #holders = new Map<Digest, string>()
  readonly #uploads = new Map<string, string>()

  private constructor(target: string, path: string, file: FileHandle) {
    this.#target = target
    this.#path = path
    this.#file = file
  }

  /** Reads what is known of `target` and stays open for appending. */
  static async open(workspace: Workspace, target: string): Promise<Holdings> {
    const path = join(workspace.state, 'holdings.ndjson')
    await mkdir(workspace.state, { recursive: true })
    const text = await readIfPresent(path)
    // 0600: the location of an upload can hold a token of the registry.
    const holdings = new Holdings(target, path, await open(path, 'a', 0o600))
    if (text && !text.endsWith('\n')) await holdings.#file.appendFile('\n')
    for (const line of text?.split('\n') ?? []) holdings.#fold(parseLine(line))
    return holdings
  }

  /**
   * Takes lines out of the record: what a repository was told to hold, and holds no more.
   *
   * @param isGone for the `HOST/PATH` of a repository and a blob
   */
  static async forget(
    workspace: Workspace,
    target: string,
    isGone: (repository: string, digest: Digest) => boolean,
  ): Promise<void> {
    const path = join(workspace.state, 'holdings.ndjson')
    const lines = (await readIfPresent(path))?.split('\n').filter((line) => line !== '') ?? []
    const left = lines.filter((text) => {
      const line = parseLine(text)
      return line === undefined || line.target !== target || !isGone(line.repository, line.digest)
    })
    if (left.length === lines.length) return
    await writeStaged(path, async (file) => {
      // 0600: the location of an upload can hold a token of the registry.
      await file.chmod(0o600)
      await file.writeFile(left.map((line) => `${line}\n`))
    })
  }

  /** A repository that is believed to hold the blob. */
  holderOf(digest: Digest): string | undefined {
    return this.#holders.get(digest)
  }

  uploadOf(repository: string, digest: Digest): UploadSession | undefined {
    const location = this.#uploads.get(`${repository} ${digest}`)
    return location === undefined ? undefined : { location }
  }

  async arrived(repository: string, digest: Digest): Promise<void> {
    const isKnown = this.#holders.has(digest) && !this.#uploads.has(`${repository} ${digest}`)
    if (!isKnown) await this.#append({ target: this.#target, repository, digest, upload: null })
  }

  async began(repository: string, digest: Digest, session: UploadSession): Promise<void> {
    await this.#append({ target: this.#target, repository, digest, upload: session.location })
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  async #append(line: Line): Promise<void> {
    this.#fold(line)
    try {
      await this.#file.appendFile(`${JSON.stringify(line)}\n`)
    } catch (cause) {
      throw diskError(cause, this.#path)
    }
  }

  #fold(line: Line | undefined): void {
    if (line?.target !== this.#target) return
    const key = `${line.repository} ${line.digest}`
    if (line.upload === null) {
      this.#uploads.delete(key)
      if (!this.#holders.has(line.digest)) this.#holders.set(line.digest, line.repository)
    } else this.#uploads.set(key, line.upload)
  }
}

function parseLine(text: string): Line | undefined {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined
  return Line.safeParse(parsedJson(text)).data
}
