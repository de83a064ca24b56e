/** Follows a deletion on standard error. */
import type { DeletionEvent } from '../../flows/delete-listed.ts'
import type { CliContext } from '../context.ts'
import { count } from './quantities.ts'

export interface DeletionProgress {
  readonly onEvent: (event: DeletionEvent) => void
  /** Takes the line away; call it before anything else is printed. */
  readonly stop: () => void
}

const redrawMs = 100

export function followDeletion({ clock, isTerminal, stderr, emitEvent }: CliContext): DeletionProgress {
  const state = { planned: 0, deleted: 0, drawnAt: 0 }
  return {
    onEvent: (event) => {
      emitEvent?.({ at: clock.now(), ...event })
      if (event.type === 'deletion.planned') {
        state.planned = event.manifests
        if (!isTerminal) stderr(`plan: ${count(event.manifests, 'manifest')} to delete\n`)
        return
      }
      state.deleted += 1
      if (!isTerminal || clock.now() - state.drawnAt < redrawMs) return
      state.drawnAt = clock.now()
      stderr(`\r\u001b[2K${state.deleted.toLocaleString('en-US')} of ${count(state.planned, 'manifest')} deleted`)
    },
    stop: () => {
      if (isTerminal) stderr('\r\u001b[2K')
    },
  }
}
