/** Time, as a collaborator: a test passes its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `milliseconds`, or rejects with the reason of `signal`. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** Calls `action` after `milliseconds` unless cancelled by the function that is returned. Does not keep the process alive. */
  after(milliseconds: number, action: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, milliseconds)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
  after: (milliseconds, action) => {
    const timer = setTimeout(action, milliseconds)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
