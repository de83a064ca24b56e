/**
 * Unfinished uploads. A session is a file, and the length of the file is its offset, so that a restart of the server
 * loses none; the running hash is kept while the server lives, and taken from the file once more after a restart.
 */
import { existsSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { hasSystemCode } from '../errors/known-error.ts'
import { randomUuid } from '../host/random.ts'
import type { DigestAlgorithm } from '../oci/digest.ts'
import type { BlobStore } from '../store/blob-store.ts'
import { StagedFile } from '../store/staged-file.ts'
import { Refusal } from './refusal.ts'

interface Session {
  readonly staged: StagedFile
  /** The request that writes at present, and its end. */
  writer: { readonly request: IncomingMessage; readonly ended: Promise<unknown> } | undefined
}

export class UploadSessions {
  readonly #store: BlobStore
  readonly #sessions = new Map<string, Session>()

  constructor(store: BlobStore) {
    this.#store = store
    this.removeAbandoned()
  }

  async start(algorithm: DigestAlgorithm): Promise<string> {
    const id = randomUuid()
    const staged = StagedFile.create(this.#store.paths.upload(id), this.#store, algorithm)
    await staged.suspend()
    this.#sessions.set(id, { staged, writer: undefined })
    return id
  }

  /** Bytes that are safely in the session. @throws Refusal BLOB_UPLOAD_UNKNOWN */
  async offset(id: string): Promise<number> {
    const session = this.#find(id)
    if (session.writer === undefined) await session.staged.suspend()
    return session.staged.size
  }

  /**
   * Lets `request` write to a session. A request that still does is cut off: its client came back on another
   * connection, and this server has not noticed yet that the first one is dead.
   *
   * @throws Refusal BLOB_UPLOAD_UNKNOWN, and what `action` throws
   */
  async write<Result>(
    id: string,
    request: IncomingMessage,
    action: (staged: StagedFile) => Promise<Result>,
  ): Promise<Result> {
    const session = this.#find(id)
    while (session.writer !== undefined) {
      session.writer.request.destroy()
      await session.writer.ended
    }
    const work = this.#run(id, session, action)
    session.writer = { request, ended: work.catch(() => undefined) }
    try {
      return await work
    } finally {
      session.writer = undefined
    }
  }

  /** Forgets a session whose file was given another name. */
  forget(id: string): void {
    this.#sessions.delete(id)
  }

  /** @throws Refusal BLOB_UPLOAD_UNKNOWN */
  async cancel(id: string): Promise<void> {
    const session = this.#find(id)
    session.writer?.request.destroy()
    await session.writer?.ended
    this.#sessions.delete(id)
    await session.staged.discard()
  }

  /** Removes sessions that nobody wrote to for a day. */
  removeAbandoned(): void {
    this.#store.removeAbandonedUploads((id) => this.#sessions.get(id)?.writer !== undefined)
    for (const [id, { staged, writer }] of this.#sessions) {
      if (writer !== undefined || existsSync(this.#store.paths.upload(id))) continue
      this.#sessions.delete(id)
      void staged.discard()
    }
  }

  async #run<Result>(id: string, session: Session, action: (staged: StagedFile) => Promise<Result>): Promise<Result> {
    try {
      return await action(session.staged)
    } catch (error) {
      // A file that could not be written to is opened afresh by the next request, at the length that it has.
      if (session.staged.hasFailed) this.#sessions.delete(id)
      throw error
    } finally {
      await session.staged.suspend()
    }
  }

  #find(id: string): Session {
    const known = this.#sessions.get(id)
    if (known !== undefined) return known
    try {
      const session: Session = {
        staged: StagedFile.reopen(this.#store.paths.upload(id), this.#store),
        writer: undefined,
      }
      this.#sessions.set(id, session)
      return session
    } catch (error) {
      if (!hasSystemCode(error, 'ENOENT')) throw error
      throw new Refusal('BLOB_UPLOAD_UNKNOWN', `there is no upload ${id}: it was finished, cancelled or given up`)
    }
  }
}
