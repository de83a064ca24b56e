import { KnownError } from '../errors/known-error.ts'
import { shellQuote } from '../host/shell-quote.ts'
import type { UndoRecord } from '../journal/events.ts'

/** The kind of what a script registers: a command that takes it away. */
export const undoCommandKind = 'script.command'

/**
 * `$SALLYPORT_UNDO COMMAND [ARGUMENT…]`, for scripts: returns once the command that takes away what is made next is on the disk.
 *
 * One file a command, its words ended by NUL, so that every byte of an argument comes back as it was.
 */
export function undoRecorderScript(inbox: string): string {
  return `#!/bin/sh
# Registers a command that takes away what the caller makes next: ${'$'}SALLYPORT_UNDO COMMAND [ARGUMENT...]
set -eu
[ "$#" -gt 0 ] || { echo "usage: \\$SALLYPORT_UNDO COMMAND [ARGUMENT...]" >&2; exit 64; }
file=${shellQuote(inbox)}/$(date +%s%N)-$$
umask 077
printf '%s\\0' "$SALLYPORT_STEP" "$@" >"$file.new"
sync "$file.new" 2>/dev/null || sync
mv "$file.new" "$file.undo"
`
}

export interface UndoRequest {
  readonly step: string
  readonly attempt: number
  readonly record: UndoRecord
}

/** @throws KnownError STEP_OUTPUT */
export function readUndoRequest(bytes: Uint8Array, fileName: string): UndoRequest {
  const [cookie = '', ...argv] = Buffer.from(bytes).toString('utf8').split('\0').slice(0, -1)
  const place = /^[^/]+\/(.+)\/(\d+)$/.exec(cookie)
  if (place === null || argv.length === 0) {
    throw new KnownError('STEP_OUTPUT', `${fileName} is no undo record of a script`, { details: { file: fileName } })
  }
  const [, step = '', attempt = ''] = place
  return { step, attempt: Number(attempt), record: { kind: undoCommandKind, values: { argv } } }
}
