/**
 * Follows a mirror on standard error: one line redrawn in place on a terminal, a plain line now and then elsewhere.
 */
import type { MirrorEvent, OnMirrorEvent } from '../../mirror/events.ts'
import type { PlanTotals } from '../../mirror/plan.ts'
import type { CliContext } from '../context.ts'
import { count, formatBytes, formatDuration } from './quantities.ts'

export interface MirrorProgress {
  readonly onEvent: OnMirrorEvent
  /** Takes the line away; call it before anything else is printed. */
  readonly stop: () => void
}

const redrawMs = 100
const plainLineMs = 10_000
const barWidth = 24

interface State {
  startedAt: number
  bytes: number
  blobs: number
  manifests: number
  failed: number
  totals?: PlanTotals
  resolving?: { done: number; total: number }
}

/** @param isQuiet shows nothing, and still writes events */
export function followMirror(context: CliContext, isQuiet = false): MirrorProgress {
  const { clock, isTerminal, stderr, emitEvent } = context
  const state: State = { startedAt: clock.now(), bytes: 0, blobs: 0, manifests: 0, failed: 0 }
  let cancel: (() => void) | undefined
  const draw = () => {
    if (isQuiet) return
    const line = lineOf(state, clock.now())
    if (line) stderr(isTerminal ? `\r\u001b[2K${line}` : `${line}\n`)
    cancel = clock.after(isTerminal ? redrawMs : plainLineMs, draw)
  }
  cancel = clock.after(isTerminal ? redrawMs : plainLineMs, draw)
  return {
    onEvent: (event) => {
      fold(state, event, clock.now())
      // A byte count for every chunk is for the bar only; a file of events wants things that happened.
      if (event.type !== 'blob.progressed' && event.type !== 'mirror.resolving')
        emitEvent?.({ at: clock.now(), ...event })
      if (event.type === 'mirror.planned' && !isTerminal && !isQuiet) stderr(`${planLine(event.totals)}\n`)
    },
    stop: () => {
      cancel?.()
      if (isTerminal && !isQuiet) stderr('\r\u001b[2K')
    },
  }
}

function fold(state: State, event: MirrorEvent, now: number): void {
  if (event.type === 'mirror.resolving') state.resolving = event
  else if (event.type === 'mirror.planned') {
    state.totals = event.totals
    state.startedAt = now
  } else if (event.type === 'blob.progressed') state.bytes += event.bytes
  else if (event.type === 'blob.arrived') state.blobs += 1
  else if (event.type === 'manifest.arrived') state.manifests += 1
  else state.failed += 1
}

function planLine(totals: PlanTotals): string {
  return `plan: ${count(totals.images, 'image')} to look at, ${totals.present} there already; ${count(totals.blobs, 'blob')}, ${formatBytes(totals.bytes)} to move`
}

function lineOf(state: State, now: number): string | undefined {
  const { totals, resolving, bytes, blobs, manifests, failed } = state
  if (!totals) return resolving && `reading manifests ${resolving.done}/${resolving.total}`
  if (totals.manifests === 0) return undefined
  const elapsedMs = Math.max(1, now - state.startedAt)
  const rate = (bytes * 1000) / elapsedMs
  const left =
    rate > 0 && bytes < totals.bytes ? `, ${formatDuration(((totals.bytes - bytes) / rate) * 1000)} left` : ''
  const failures = failed > 0 ? `, ${failed} failed` : ''
  const filled = Math.round(barWidth * Math.min(1, totals.bytes > 0 ? bytes / totals.bytes : 1))
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`
  const amounts = `${formatBytes(bytes)} of ${formatBytes(totals.bytes)}, ${formatBytes(rate)}/s${left}`
  const places = totals.blobs + totals.mounts
  return `${bar} ${amounts}; blobs ${blobs}/${places}, manifests ${manifests}/${totals.manifests}${failures}`
}
