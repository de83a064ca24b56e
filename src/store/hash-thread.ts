import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Digest } from '../oci/digest.ts'
import type { GrowingFile, HashAnswer, HashRequest } from './hash-worker.ts'

/** Beside this file: `hash-worker.ts` in the sources, `hash-worker.js` in the bundle. */
const besideThis = new URL(`./hash-worker${extname(import.meta.url)}`, import.meta.url)

/**
 * Hashes large files in a thread of its own while they are written. The thread reads back what is in the file, which is
 * still in memory, so that nothing but paths and lengths passes between the threads.
 *
 * It is started when it is first needed, and keeps the process alive only while somebody waits for a digest.
 */
export class HashThread {
  readonly #workerFile: URL
  #worker: Worker | undefined
  #hasFailed = false
  readonly #waiting = new Map<string, (digest: Digest | undefined) => void>()

  constructor(workerFile = besideThis) {
    this.#workerFile = workerFile
  }

  /** Says how far a file is written. What is there must stay as it is, or be taken back with `forget`. */
  advance(file: GrowingFile): void {
    this.#start()?.postMessage({ kind: 'advance', file } satisfies HashRequest)
  }

  /** The digest of a file, also of one never heard of; undefined where the thread or the file cannot be used. */
  finish(file: GrowingFile): Promise<Digest | undefined> {
    const worker = this.#start()
    if (worker === undefined) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      this.#waiting.set(file.path, resolve)
      worker.ref()
      worker.postMessage({ kind: 'finish', file } satisfies HashRequest)
    })
  }

  /** What was hashed of a file is no longer true, or no longer wanted. */
  forget(path: string): void {
    this.#worker?.postMessage({ kind: 'forget', path } satisfies HashRequest)
  }

  #start(): Worker | undefined {
    if (this.#worker !== undefined || this.#hasFailed) return this.#worker
    // The options of this process may be for its own script alone, like `--input-type`.
    const worker = new Worker(this.#workerFile, { name: 'hash', execArgv: [] })
    worker.on('message', ({ path, digest }: HashAnswer) => this.#answer(path, digest))
    // Whoever waits hashes without the thread, and meets what is wrong with the file where there is somebody to tell.
    worker.on('error', () => this.#giveUp())
    worker.on('exit', () => this.#giveUp())
    worker.unref()
    this.#worker = worker
    return worker
  }

  #answer(path: string, digest: Digest | undefined): void {
    this.#waiting.get(path)?.(digest)
    this.#waiting.delete(path)
    if (this.#waiting.size === 0) this.#worker?.unref()
  }

  #giveUp(): void {
    this.#hasFailed = true
    for (const path of this.#waiting.keys()) this.#answer(path, undefined)
    this.#worker = undefined
  }
}
