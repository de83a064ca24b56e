import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { StepPolicy } from './step.ts'

/** A process group has its grace and is then ended; the same and a little for what runs in this process. */
const abandonMs = 5_000

interface WatchOrder {
  readonly policy: StepPolicy
  /** Aborted: the run is stopped. */
  readonly signal: AbortSignal
}

/** Time-out, silence, and the word of somebody who stops the run. */
export class AttemptWatch {
  readonly signal: AbortSignal
  /** Rejects when the step does not end by itself within its grace, nor soon after the last of its programs. */
  readonly abandoned: Promise<never>
  /** Where its time was up. */
  tooLate: KnownError | undefined
  readonly #clock: Clock
  readonly #silenceMs: number
  readonly #onSilent: (forMs: number) => void
  readonly #cancels: (() => void)[] = []
  #lastSign: number
  #isClosed = false
  #programs = 0
  #hasProgramEnded = false

  constructor(
    { policy, signal }: WatchOrder,
    { clock, onSilent }: { readonly clock: Clock; readonly onSilent: (forMs: number) => void },
  ) {
    const controller = new AbortController()
    this.#clock = clock
    this.#silenceMs = policy.silenceMs
    this.#onSilent = onSilent
    this.#lastSign = clock.now()
    this.signal = controller.signal
    this.abandoned = new Promise((_, reject) => {
      const end = (reason: unknown) => {
        this.#hasProgramEnded = false
        controller.abort(reason)
        // Whoever comes next would find the programs still at work, or the step clearing up behind them.
        const abandon = () => {
          const isAtWork = this.#programs > 0 || this.#hasProgramEnded
          this.#hasProgramEnded = false
          if (isAtWork) abandonAfter(abandonMs)
          else reject(reason)
        }
        const abandonAfter = (milliseconds: number) => this.#cancels.push(clock.after(milliseconds, abandon))
        abandonAfter(policy.graceMs + abandonMs)
      }
      const onStop = () => end(signal.reason)
      signal.addEventListener('abort', onStop, { once: true })
      this.#cancels.push(() => signal.removeEventListener('abort', onStop))
      this.#cancels.push(
        clock.after(policy.timeoutMs, () => {
          this.tooLate = new KnownError('STEP_FAILED', `It did not end within ${seconds(policy.timeoutMs)}`)
          end(this.tooLate)
        }),
      )
      if (signal.aborted) onStop()
    })
    this.abandoned.catch(() => undefined)
    this.#watchSilence()
  }

  /** Something was heard of it. */
  sign(): void {
    this.#lastSign = this.#clock.now()
  }

  /** While a program of it runs. */
  async during<Result>(program: Promise<Result>): Promise<Result> {
    this.#programs += 1
    try {
      return await program
    } finally {
      this.#programs -= 1
      this.#hasProgramEnded = true
    }
  }

  #watchSilence(): void {
    if (this.#isClosed) return
    // A clock that was set back begins it anew.
    this.#lastSign = Math.min(this.#lastSign, this.#clock.now())
    const silentMs = this.#clock.now() - this.#lastSign
    if (silentMs >= this.#silenceMs) this.#onSilent(silentMs)
    const next = silentMs >= this.#silenceMs ? this.#silenceMs : this.#silenceMs - silentMs
    this.#cancels.push(this.#clock.after(next, () => this.#watchSilence()))
  }

  close(): void {
    this.#isClosed = true
    for (const cancel of this.#cancels) cancel()
  }
}

function seconds(milliseconds: number): string {
  return milliseconds < 120_000 ? `${milliseconds / 1000} s` : `${Math.round(milliseconds / 6000) / 10} min`
}
