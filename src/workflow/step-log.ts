import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasSystemCode } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { RunSecrets } from './run-secrets.ts'

const newline = 0x0a

/** The log of an attempt: what it printed, without secrets, each line with the time at which it began. */
export interface StepLog {
  write(chunk: Uint8Array): void
  /** Lines of their own, also behind output that does not end with its line. */
  say(text: string): void
  close(): void
}

interface StepLogOptions {
  readonly clock: Clock
  readonly secrets: RunSecrets
  /** Hears what is written, in the same pieces. */
  readonly onText?: (text: Uint8Array) => void
}

export function openStepLog(path: string, { clock, secrets, onText }: StepLogOptions): StepLog {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a', 0o600)
  const filter = secrets.openFilter()
  let isAtLineStart = true
  let isFull = false
  let isInLine = false
  let isClosed = false

  const put = (clean: Uint8Array) => {
    if (clean.byteLength === 0 || isFull) return
    const stamped = stamp(clean)
    onText?.(stamped)
    try {
      writeAll(file, stamped)
    } catch (error) {
      if (!hasSystemCode(error, 'ENOSPC', 'EDQUOT')) throw error
      // A step is not ended for want of space for its words: what it does may be what makes space.
      isFull = true
    }
  }
  const stamp = (clean: Uint8Array): Uint8Array => {
    const pieces: Uint8Array[] = []
    const time = Buffer.from(`${new Date(clock.now()).toISOString()} `)
    for (let start = 0; start < clean.byteLength; ) {
      const end = clean.indexOf(newline, start) + 1 || clean.byteLength
      if (isAtLineStart) pieces.push(time)
      pieces.push(clean.subarray(start, end))
      isAtLineStart = clean[end - 1] === newline
      start = end
    }
    return Buffer.concat(pieces)
  }
  const write = (chunk: Uint8Array) => {
    // A step that was given up may still speak, when its file has a number that is another's by now.
    if (isClosed) return
    if (chunk.byteLength > 0) isInLine = chunk.at(-1) !== newline
    put(filter.push(chunk))
  }
  return {
    write,
    say: (text) => write(Buffer.from(`${isInLine ? '\n' : ''}${text}\n`)),
    close() {
      if (isClosed) return
      put(filter.end())
      isClosed = true
      closeSync(file)
    },
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.byteLength; ) written += writeSync(file, bytes, written)
}
