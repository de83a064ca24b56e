import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Counts bytes that pass through this process, and collects young garbage after every so many of them.
 *
 * Each chunk from a socket is 64 KiB outside the JavaScript heap behind an object of a few hundred bytes inside it. V8
 * collects by the size of its heap, so that a hundred MiB of dead chunks can wait for it. A young collection takes
 * about a millisecond: measured at 16 MiB, six transfers at once peak at 151 instead of 198 MiB, in the same time.
 */
export function collectYoungGarbageEvery(bytes: number): (count: number) => void {
  let sinceLast = 0
  let collect: ((options: { type: 'minor' }) => void) | undefined
  return (count) => {
    sinceLast += count
    if (sinceLast < bytes) return
    sinceLast = 0
    collect ??= exposedCollector()
    collect({ type: 'minor' })
  }
}

/** What `node --expose-gc` calls `gc`, for a program that is started without it. */
function exposedCollector(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  const collector: unknown = runInNewContext('gc')
  return typeof collector === 'function' ? (options) => void collector(options) : () => undefined
}
