import type { Clock } from '../src/host/clock.ts'

interface Timer {
  readonly at: number
  readonly action: () => void
}

/** Time that passes only when a test says so. */
export class FakeClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()
  /** How long everybody who slept wanted to sleep, in order. */
  readonly sleeps: number[] = []
  /** True: who sleeps is woken at once, and time moves on by what he wanted. For tests of what happens, not when. */
  isImpatient: boolean

  constructor(options: { readonly now?: number; readonly isImpatient?: boolean } = {}) {
    this.#now = options.now ?? Date.UTC(2026, 0, 1)
    this.isImpatient = options.isImpatient ?? false
  }

  now(): number {
    return this.#now
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(milliseconds)
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.isImpatient) {
      this.#now += milliseconds
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const cancel = this.after(milliseconds, resolve)
      signal?.addEventListener('abort', () => {
        cancel()
        reject(signal.reason)
      })
    })
  }

  after(milliseconds: number, action: () => void): () => void {
    const timer = { at: this.#now + milliseconds, action }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Lets time pass, and calls what is due in its order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)[0]
      if (due === undefined) break
      this.#timers.delete(due)
      this.#now = Math.max(this.#now, due.at)
      due.action()
    }
    this.#now = end
  }
}
