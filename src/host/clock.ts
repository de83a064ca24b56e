/** Time, as a collaborator: a test passes its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `milliseconds`, or rejects with the reason of `signal`. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** Calls `action` after `milliseconds` unless cancelled by the function that is returned. Does not keep the process alive. */
  after(milliseconds: number, action: () => void): () => void
}

/** A timer of Node with more goes off at once (https://nodejs.org/api/timers.html#settimeoutcallback-delay-args). */
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = startTimer({ milliseconds, keepsAlive: true }, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
  after: (milliseconds, action) => startTimer({ milliseconds, keepsAlive: false }, action),
}

interface TimerOrder {
  readonly milliseconds: number
  readonly keepsAlive: boolean
}

/** Of as many timers of Node as it takes. */
function startTimer({ milliseconds, keepsAlive }: TimerOrder, action: () => void): () => void {
  let timer: NodeJS.Timeout
  const start = (leftMs: number) => {
    const nextMs = Math.min(leftMs, longestTimerMs)
    timer = setTimeout(() => (leftMs > nextMs ? start(leftMs - nextMs) : action()), nextMs)
    if (!keepsAlive) timer.unref()
  }
  start(milliseconds)
  return () => clearTimeout(timer)
}
