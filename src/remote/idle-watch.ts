import type { Clock } from '../host/clock.ts'

/**
 * Calls `onIdle` once nothing has been `touch`ed for `limitMs`.
 *
 * One timer for a whole transfer: a touch only notes the time, so that it costs nothing per chunk.
 */
export class IdleWatch {
  readonly #clock: Clock
  readonly #onIdle: (idleMs: number) => void
  #limitMs: number
  #lastMs: number
  #cancel: () => void
  #isPaused = false

  constructor(clock: Clock, limitMs: number, onIdle: (idleMs: number) => void) {
    this.#clock = clock
    this.#onIdle = onIdle
    this.#limitMs = limitMs
    this.#lastMs = clock.now()
    this.#cancel = clock.after(limitMs, this.#check)
  }

  touch(): void {
    this.#lastMs = this.#clock.now()
  }

  /** Starts to count anew, with another limit: connecting, sending and waiting for an answer have their own. */
  restart(limitMs: number): void {
    this.#cancel()
    this.#limitMs = limitMs
    this.#isPaused = false
    this.touch()
    this.#cancel = this.#clock.after(limitMs, this.#check)
  }

  get paused(): boolean {
    return this.#isPaused
  }

  /** Silence is ours, not the peer's: the consumer is slow, or the source of an upload is. */
  set paused(isPaused: boolean) {
    if (this.#isPaused && !isPaused) this.touch()
    this.#isPaused = isPaused
  }

  stop(): void {
    this.#cancel()
  }

  readonly #check = (): void => {
    if (this.#isPaused) this.touch()
    const idleMs = this.#clock.now() - this.#lastMs
    if (idleMs >= this.#limitMs) this.#onIdle(idleMs)
    else this.#cancel = this.#clock.after(this.#limitMs - idleMs, this.#check)
  }
}
