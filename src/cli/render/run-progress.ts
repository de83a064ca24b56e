/** A run while it goes on: a line for each step, and on a terminal one that is drawn again and again. */
import { stripVTControlCharacters } from 'node:util'
import type { JournalEvent } from '../../journal/events.ts'
import type { RunState, StepState } from '../../journal/run-state.ts'
import type { CliContext } from '../context.ts'
import { forgivenWords, isForgiven } from './forgiven-step.ts'
import { formatDuration } from './quantities.ts'
import { statusMark } from './run-show.ts'
import { progressText, undoText } from './run-view.ts'

export type ProgressOutput = Pick<CliContext, 'stderr' | 'isTerminal' | 'clock' | 'json' | 'emitEvent'>

interface ProgressOptions {
  /** Usual duration of a step in milliseconds, by its id. */
  readonly usualMs: ReadonlyMap<string, number>
  /** Of the terminal; 0 where it does not say, as on serial consoles. */
  readonly columns: number | undefined
}

const frames = ['|', '/', '-', '\\']
const redrawMs = 150
const usualColumns = 80

export class RunProgress {
  readonly #output: ProgressOutput
  readonly #options: ProgressOptions
  readonly #isDrawn: boolean
  #running: { readonly step: StepState; readonly place: string } | undefined
  #lastPrinted = ''
  #frame = 0
  #cancel: () => void = () => undefined

  constructor(output: ProgressOutput, options: ProgressOptions) {
    this.#output = output
    this.#options = options
    this.#isDrawn = output.isTerminal && !output.json
  }

  onEvent(event: JournalEvent, state: RunState): void {
    this.#output.emitEvent?.({ ...event, run: state.run })
    const line = this.#lineOf(event, state)
    if (line !== undefined) this.#say(line)
    this.#draw()
  }

  #lineOf(event: JournalEvent, state: RunState): string | undefined {
    switch (event.type) {
      case 'step.started':
        return this.#start(state, event.step)
      case 'step.succeeded':
      case 'step.failed':
      case 'step.cancelled':
      case 'step.skipped':
      case 'step.marked-done':
        return this.#end(state, event.step)
      case 'step.silent':
        return `silent      ${event.step}: nothing heard for ${formatDuration(event.forMs)}`
      case 'observer.ended':
        return event.problem && `failed      observer ${event.observer}: ${event.problem.message}`
      case 'teardown.started':
        return `taking down: ${event.why}`
      case 'undo.done':
        return `taken away  ${undoName(state, event.undo)}`
      case 'undo.failed':
        return `still there ${undoName(state, event.undo)}: ${event.problem.message}`
      default:
        return undefined
    }
  }

  /** What a step prints: its last line is shown where the step itself says nothing. */
  onText(text: Uint8Array): void {
    if (!this.#isDrawn) return
    const lines = stripVTControlCharacters(Buffer.from(text).toString('utf8')).split(/[\r\n]+/)
    const last = lines.findLast((line) => line.replace(stamp, '').trim() !== '')
    if (last !== undefined) this.#lastPrinted = last.replace(stamp, '').trim()
  }

  stop(): void {
    this.#cancel()
    this.#running = undefined
    this.#wipe()
  }

  #start(state: RunState, id: string): string | undefined {
    const step = state.steps.get(id)
    if (step === undefined) return undefined
    const all = [...state.steps.keys()]
    this.#running = { step, place: `${all.indexOf(id) + 1}/${all.length}` }
    this.#lastPrinted = ''
    if (this.#isDrawn) return undefined
    const usual = this.#options.usualMs.get(id)
    const hint = usual === undefined || usual < 1000 ? '' : `; usually ${formatDuration(usual)}`
    return `started     ${id} (${this.#running.place}${hint})`
  }

  #end(state: RunState, id: string): string | undefined {
    const step = state.steps.get(id)
    if (step === undefined) return undefined
    this.#cancel()
    this.#running = undefined
    const attempt = step.attempts.at(-1)
    const wasRun = step.status !== 'skipped' && step.status !== 'marked-done' && attempt !== undefined
    const facts = [
      ...(wasRun ? [formatDuration((attempt.endedAt ?? state.lastAt) - attempt.startedAt)] : []),
      ...(wasRun && attempt.note !== undefined ? [attempt.note] : []),
      ...((wasRun && attempt.warnings) || []),
      ...(wasRun && attempt.problem !== undefined ? [attempt.problem.message.split('\n', 1)[0] ?? ''] : []),
      ...(wasRun && attempt.retryAt !== undefined ? ['it is tried again'] : []),
      ...(isForgiven(step) ? [forgivenWords] : []),
      ...(wasRun ? [] : [step.why ?? '']),
    ]
    return `${statusMark(step.status)} ${id}  ${facts.join('; ')}`
  }

  #say(line: string): void {
    this.#wipe()
    const { stderr, clock } = this.#output
    const time = this.#isDrawn ? '' : `${new Date(clock.now()).toISOString().slice(11, 19)} `
    stderr(`${time}${line}\n`)
  }

  #draw(): void {
    if (this.#running === undefined || !this.#isDrawn) return
    const { stderr, clock } = this.#output
    this.#frame += 1
    stderr(`\r\u001b[K${this.#line(this.#running).slice(0, (this.#options.columns || usualColumns) - 1)}`)
    this.#cancel()
    this.#cancel = clock.after(redrawMs, () => this.#draw())
  }

  #line({ step, place }: { readonly step: StepState; readonly place: string }): string {
    const { id } = step.outline
    const sinceMs = this.#output.clock.now() - (step.attempts.at(-1)?.startedAt ?? 0)
    const usual = this.#options.usualMs.get(id)
    const time =
      usual === undefined || usual < 1000
        ? formatDuration(sinceMs)
        : `${formatDuration(sinceMs)} of about ${formatDuration(usual)}`
    const silent = step.silentForMs === undefined ? '' : `; nothing heard for ${formatDuration(step.silentForMs)}`
    const note = step.progress ? progressText(step.progress) : this.#lastPrinted
    return `${frames[this.#frame % frames.length]} ${place} ${id}  ${time}${silent}${note === '' ? '' : `  ${note}`}`
  }

  #wipe(): void {
    if (this.#isDrawn) this.#output.stderr('\r\u001b[K')
  }
}

/** The time before every line of a log. */
const stamp = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z /

function undoName(state: RunState, id: number): string {
  const record = state.undo.get(id)?.record
  if (record === undefined) return `record ${id}`
  if (record.what !== undefined) return record.what
  return undoText(record)
}
