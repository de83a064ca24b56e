import { watch } from 'node:fs'
import type { Clock } from './clock.ts'

/** Tells when a file may have changed: as soon as the kernel says so, and now and then where it says nothing. */
export interface FileWatch {
  /** Resolves at once where there was a change since it was last asked. Rejects with the reason of the signal. */
  next(signal: AbortSignal): Promise<void>
  close(): void
}

/** Network file systems say nothing of what other machines do. */
const lookMs = 1000
/** A file that is written all the time is not looked at all the time. */
const restMs = 50

/** @param files those that are not there yet are only looked at now and then */
export function watchFiles(files: readonly string[], clock: Clock): FileWatch {
  let wake = Promise.withResolvers<void>()
  const watchers = files.flatMap((file) => {
    try {
      return [watch(file, () => wake.resolve())]
    } catch {
      // It is not there yet, or cannot be watched.
      return []
    }
  })
  for (const watcher of watchers) watcher.on('error', () => watcher.close())
  return {
    async next(signal) {
      const stop = new AbortController()
      const look = clock.sleep(lookMs, AbortSignal.any([signal, stop.signal]))
      try {
        await Promise.race([wake.promise, look])
        wake = Promise.withResolvers<void>()
      } finally {
        look.catch(() => undefined)
        stop.abort()
      }
      await clock.sleep(restMs, signal)
    },
    close() {
      for (const watcher of watchers) watcher.close()
    },
  }
}
