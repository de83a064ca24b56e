import { KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import type { Env } from '../../host/env.ts'
import { cookieName, endByCookie, findByCookie } from '../../host/process-cookies.ts'
import { processStat } from '../../host/process-stat.ts'
import { type ProcessGroup, spawnGroup, type TakeOutput } from '../../host/spawn-group.ts'

/** What of a program's group is left when it has ended has so long to end, too. */
const defaultRestGraceMs = 5_000
/** How often a group is looked at that should be gone. */
const lookMs = 20
/** A killed process may stay while the kernel waits for a disk: nobody waits longer for it. */
const killedLooks = 100

export interface ProcessSpec {
  readonly argv: readonly string[]
  /** All of its environment: nothing is inherited. */
  readonly env: Env
  readonly cwd?: string
  /** Put into its environment, by which its processes are found again. */
  readonly cookie?: string
  /** Daemons that it left outside of its group end with it, as in a container. They are found by the cookie. */
  readonly endsDaemons?: boolean
  /**
   * Gets its status as soon as it has ended: digits. With ` orphaned` behind where this process was gone before it, or had
   * asked it to end: a script that cleans up and says 0 has not done its work.
   */
  readonly exitFile?: string
  readonly timeoutMs?: number
  /** How long it may print nothing before somebody is told, and again each time as long. */
  readonly silenceMs?: number
  /** It is ended when it has been silent for so long. */
  readonly endOnSilence?: boolean
  /** From the first signal to SIGKILL. */
  readonly graceMs: number
  /** The same for what it leaves behind. Default 5 s, at most `graceMs`. */
  readonly restGraceMs?: number
  /** What asks it to end. Default SIGTERM; ci-operator sends SIGINT (openshift/ci-tools:cmd/entrypoint-wrapper). */
  readonly firstSignal?: 'SIGTERM' | 'SIGINT'
}

export interface ProcessControls {
  readonly clock: Clock
  /** Standard output and error as they come. A promise makes the program wait. */
  readonly onOutput: TakeOutput
  /** `started` with `pid` is that of one process only; undefined where there is no /proc. */
  readonly onStart?: (process: { readonly pid: number; readonly started?: string }) => void
  readonly onSilence?: (forMs: number) => void
  /** Aborted: it is asked to end, and has its grace. */
  readonly cancel?: AbortSignal
  /** Aborted: it is ended at once. */
  readonly kill?: AbortSignal
}

/** Why it ended: by itself, or what was done to it. */
export type EndCause = 'exit' | 'timeout' | 'silence' | 'cancelled' | 'spawn-failed'

export interface ProcessEnd {
  readonly cause: EndCause
  /** As a shell gives it: 128 and its number for a signal. */
  readonly status?: number
  /** What ended it; a status above 128 that stands for a signal is one. */
  readonly signal?: string
  /** Of the program itself, without the end of what it left behind. */
  readonly durationMs: number
  /** Why it could not be started. */
  readonly problem?: string
}

/**
 * Runs a program as a process group until it and all that it left in its group are gone, and its output has come.
 * Does not reject for what the program does, but with what `onOutput` throws, when the group has been killed for it.
 */
export async function runProcess(spec: ProcessSpec, controls: ProcessControls): Promise<ProcessEnd> {
  const { clock, cancel, kill } = controls
  const startedAt = clock.now()
  if (cancel?.aborted || kill?.aborted) return { cause: 'cancelled', durationMs: 0 }
  const run = new ProcessRun(spec, controls)
  try {
    const group = await spawnGroup({
      ...spec,
      env: { ...spec.env, ...(spec.cookie !== undefined && { [cookieName]: spec.cookie }) },
      restGraceMs: run.restGraceMs,
    })
    return await run.watch(group)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return { cause: 'spawn-failed', problem: error.message, durationMs: clock.now() - startedAt }
  }
}

class ProcessRun {
  readonly restGraceMs: number
  readonly #spec: ProcessSpec
  readonly #controls: ProcessControls
  readonly #startedAt: number
  #lastOutput: number
  #cause: EndCause = 'exit'
  #isKilled = false
  #group: ProcessGroup | undefined
  #failure: { readonly error: unknown } | undefined
  #undo: (() => void)[] = []

  constructor(spec: ProcessSpec, controls: ProcessControls) {
    this.#spec = spec
    this.#controls = controls
    this.restGraceMs = spec.restGraceMs ?? Math.min(defaultRestGraceMs, spec.graceMs)
    this.#startedAt = controls.clock.now()
    this.#lastOutput = this.#startedAt
  }

  #take(chunk: Uint8Array): ReturnType<TakeOutput> {
    this.#lastOutput = this.#controls.clock.now()
    if (this.#failure !== undefined) return
    try {
      return this.#controls.onOutput(chunk)?.catch((error) => this.#fail(error))
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Nobody can take its output: it does not go on unseen. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    if (this.#group) this.#kill(this.#group, 'exit')
  }

  async watch(group: ProcessGroup): Promise<ProcessEnd> {
    const { clock, onStart, cancel, kill } = this.#controls
    const { timeoutMs } = this.#spec
    this.#group = group
    onStart?.({ pid: group.pid, ...(group.started !== undefined && { started: group.started }) })
    this.#listen(cancel, () => this.#end(group, 'cancelled'))
    this.#listen(kill, () => this.#kill(group, 'cancelled'))
    if (timeoutMs !== undefined) this.#undo.push(clock.after(timeoutMs, () => this.#end(group, 'timeout')))
    this.#watchSilence(group)
    group.read((chunk) => this.#take(chunk))
    const end = await group.ended
    const durationMs = clock.now() - this.#startedAt
    this.#forget()
    // Who is in a hurry does not wait for what is left either.
    this.#listen(kill, () => group.signal('SIGKILL'))
    await this.#endRest(group)
    this.#forget()
    if (this.#failure !== undefined) throw this.#failure.error
    // Where nobody was left to say how it ended, SIGKILL went to the whole group.
    return { cause: this.#cause, durationMs, ...(end ?? { signal: 'SIGKILL' }) }
  }

  /** Asks it to end. The first cause is the one that counts. */
  #end(group: ProcessGroup, cause: EndCause): void {
    if (this.#cause !== 'exit') return
    this.#cause = cause
    group.disown()
    group.signal(this.#spec.firstSignal ?? 'SIGTERM')
    this.#undo.push(this.#controls.clock.after(this.#spec.graceMs, () => this.#kill(group, cause)))
  }

  #kill(group: ProcessGroup, cause: EndCause): void {
    if (this.#cause === 'exit') this.#cause = cause
    this.#isKilled = true
    group.signal('SIGKILL')
  }

  /** The wrapper does not end by SIGTERM, so this reaches only what the program left. */
  async #endRest(group: ProcessGroup): Promise<void> {
    const { clock } = this.#controls
    if (!this.#isKilled) group.signal('SIGTERM')
    this.#undo.push(clock.after(this.restGraceMs, () => this.#kill(group, this.#cause)))
    const daemons = this.#endDaemons(group)
    // Whoever holds the output open ends with the group.
    await group.closed
    for (let looks = 0; group.isAlive() && looks < killedLooks; looks += this.#isKilled ? 1 : 0) {
      await clock.sleep(lookMs)
    }
    await daemons
  }

  async #endDaemons(group: ProcessGroup): Promise<void> {
    const { cookie, endsDaemons = false } = this.#spec
    if (cookie === undefined || !endsDaemons) return
    const left = findByCookie(cookie)?.filter(({ pid }) => processStat(pid)?.group !== group.pid) ?? []
    if (left.length > 0) await endByCookie(cookie, { graceMs: this.restGraceMs, clock: this.#controls.clock })
  }

  #watchSilence(group: ProcessGroup): void {
    const { clock, onSilence } = this.#controls
    const { silenceMs, endOnSilence = false } = this.#spec
    if (silenceMs === undefined) return
    const look = (warnings: number) => {
      const silentMs = clock.now() - this.#lastOutput
      const isNew = silentMs < silenceMs
      const due = isNew ? silenceMs : silenceMs * (warnings + 1)
      if (silentMs >= due) {
        onSilence?.(silentMs)
        if (endOnSilence) this.#end(group, 'silence')
      }
      const told = silentMs >= due ? warnings + 1 : isNew ? 0 : warnings
      this.#undo.push(clock.after(Math.max(1, silenceMs * (told + 1) - silentMs), () => look(told)))
    }
    this.#undo.push(clock.after(silenceMs, () => look(0)))
  }

  #listen(signal: AbortSignal | undefined, action: () => void): void {
    if (signal?.aborted) action()
    signal?.addEventListener('abort', action, { once: true })
    this.#undo.push(() => signal?.removeEventListener('abort', action))
  }

  #forget(): void {
    for (const undo of this.#undo) undo()
    this.#undo = []
  }
}
