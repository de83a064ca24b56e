import { KnownError } from '../errors/known-error.ts'
import { runAttempt, silentNotes } from './attempt.ts'
import { logPath } from './run-directory.ts'
import { defaultPolicy } from './step.ts'
import type { JournalWriter } from './step-runner.ts'
import type { WorkflowObserver } from './workflow.ts'

/** It ends when the steps do. */
const forever = Number.MAX_SAFE_INTEGER

/** What runs beside the steps, from the first of them until the teardown. Its failure is told, and fails nothing. */
export class ObserverGroup {
  readonly #observers: readonly WorkflowObserver[]
  readonly #host: JournalWriter
  readonly #stop = new AbortController()
  #running: Promise<void>[] | undefined

  constructor(observers: readonly WorkflowObserver[], host: JournalWriter) {
    this.#observers = observers
    this.#host = host
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return
    this.#running = []
    for (const observer of this.#observers) {
      const log = logPath(nameOf(observer), this.#host.state.sessions)
      await this.#host.write({ type: 'observer.started', observer: observer.name, log })
      this.#running.push(this.#observe(observer))
    }
  }

  async #observe(observer: WorkflowObserver): Promise<void> {
    const { graceMs = defaultPolicy.graceMs } = observer
    const order = {
      step: nameOf(observer),
      number: this.#host.state.sessions,
      policy: { ...defaultPolicy, timeoutMs: forever, silenceMs: forever, graceMs },
      signal: this.#stop.signal,
    }
    const end = await runAttempt(order, {
      host: this.#host.attempts,
      notes: silentNotes,
      work: async (context) => {
        await observer.run(context)
        return { output: null }
      },
    })
    const problem = end.kind === 'failed' ? end.problem : undefined
    // Where this cannot be written, the next step finds that out, and says so.
    await this.#host
      .write({ type: 'observer.ended', observer: observer.name, ...(problem && { problem }) })
      .catch(() => undefined)
  }

  /** Resolves when all have ended. */
  async stop(): Promise<void> {
    this.#stop.abort(new KnownError('INTERRUPTED', 'The observed steps have ended'))
    await Promise.all(this.#running ?? [])
    this.#running = []
  }
}

function nameOf({ name }: WorkflowObserver): string {
  return `observers/${name}`
}
