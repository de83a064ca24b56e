/**
 * How many requests one host gets at once.
 *
 * Additive increase, multiplicative decrease, as TCP does it: a host that answers 429 or 503 is asked half as much,
 * and nothing at all until its `Retry-After` is over; every round of answers then adds one more.
 */
import type { Clock } from '../host/clock.ts'

/** Downloads and uploads wait for each other in one copy within a host, so each kind has its own places. */
export type Lane = 'request' | 'download' | 'upload'

const lanes = {
  request: { first: 16, most: 32 },
  download: { first: 6, most: 16 },
  upload: { first: 6, most: 16 },
} as const satisfies Record<Lane, { first: number; most: number }>

interface LaneState {
  limit: number
  active: number
  readonly waiting: (() => void)[]
}

export class HostPace {
  readonly #clock: Clock
  readonly #lanes: Record<Lane, LaneState>
  #pausedUntil = 0

  constructor(clock: Clock) {
    this.#clock = clock
    const lane = (name: Lane): LaneState => ({ limit: lanes[name].first, active: 0, waiting: [] })
    this.#lanes = { request: lane('request'), download: lane('download'), upload: lane('upload') }
  }

  /** How many requests of this kind may be under way now. */
  limit(lane: Lane): number {
    return Math.floor(this.#lanes[lane].limit)
  }

  /**
   * Waits for a place; the function returned gives it back, and may be called more than once.
   *
   * @throws the reason of `signal`
   */
  async enter(lane: Lane, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const state = this.#lanes[lane]
    if (state.active < this.limit(lane)) state.active += 1
    else await this.#queue(state, signal)
    let isHeld = true
    const release = () => {
      if (!isHeld) return
      isHeld = false
      state.active -= 1
      this.#admit(lane)
    }
    try {
      await this.#pause(signal)
    } catch (error) {
      release()
      throw error
    }
    return release
  }

  /** The host asks for less. */
  slowDown(retryAfterMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + retryAfterMs)
    for (const state of Object.values(this.#lanes)) state.limit = Math.max(1, state.limit / 2)
  }

  /** The host answered in good order. */
  speedUp(lane: Lane): void {
    const state = this.#lanes[lane]
    state.limit = Math.min(lanes[lane].most, state.limit + 1 / Math.max(1, state.limit))
    this.#admit(lane)
  }

  async #pause(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const waitMs = this.#pausedUntil - this.#clock.now()
      if (waitMs <= 0) return
      await this.#clock.sleep(waitMs, signal)
    }
  }

  #queue(state: LaneState, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = () => {
        signal?.removeEventListener('abort', leave)
        state.active += 1
        resolve()
      }
      const leave = () => {
        state.waiting.splice(state.waiting.indexOf(admit), 1)
        reject(signal?.reason)
      }
      state.waiting.push(admit)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  #admit(lane: Lane): void {
    const state = this.#lanes[lane]
    while (state.active < this.limit(lane)) {
      const next = state.waiting.shift()
      if (next === undefined) return
      next()
    }
  }
}
