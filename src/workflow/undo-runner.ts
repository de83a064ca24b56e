import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { JsonRecord, UndoRecord } from '../journal/events.ts'
import type { UndoState } from '../journal/run-state.ts'
import { runAttempt, silentNotes } from './attempt.ts'
import { defaultPolicy, type UndoHandler } from './step.ts'
import type { JournalWriter } from './step-runner.ts'
import { readUndoRequest, type UndoRequest, undoCommandKind } from './undo-request.ts'

type Handlers = Readonly<Record<string, UndoHandler>>

/** Takes away what steps made, each by its record alone. */
export class UndoRunner {
  readonly #host: JournalWriter
  readonly #handlers: Handlers

  constructor({ handlers, ...host }: JournalWriter & { readonly handlers: Handlers }) {
    this.#host = host
    this.#handlers = handlers
  }

  async run(id: number): Promise<void> {
    const undo = this.#host.state.undo.get(id)
    if (undo === undefined) return
    // The first Ctrl-C does not end a teardown: what is left half taken away is the worst to find.
    const signal = new AbortController().signal
    const number = this.#host.state.sessions
    const order = { step: `undo/${id}`, number, policy: { ...defaultPolicy, timeoutMs: 60 * 60_000 }, signal }
    const end = await runAttempt(order, {
      host: this.#host.attempts,
      notes: { ...silentNotes, onText: (text) => this.#host.onText?.(`undo/${id}`, text) },
      work: async (context) => {
        const handler = this.#handlerOf(undo)
        const values = await this.#valuesOf(undo)
        context.print(`taking away ${handler.describe(values)}\n`)
        await handler.remove(values, context)
        return { output: null }
      },
    })
    if (end.kind === 'succeeded') await this.#host.write({ type: 'undo.done', undo: id })
    else {
      const problem = end.kind === 'failed' ? end.problem : { message: end.why }
      await this.#host.write({ type: 'undo.failed', undo: id, problem })
    }
  }

  #handlerOf({ record }: UndoState): UndoHandler {
    const handler = this.#handlers[record.kind]
    if (handler !== undefined) return handler
    throw new KnownError('UNDO_UNKNOWN', `Nobody here knows how to take away ${record.kind}`, {
      details: { kind: record.kind },
    })
  }

  async #valuesOf({ record: { values } }: UndoState): Promise<JsonRecord> {
    const { secret } = values
    if (typeof secret !== 'string') return values
    return JSON.parse(await this.#host.attempts.secretStore.read(secret)) as JsonRecord
  }

  /** Takes the records that scripts have left, by `$SALLYPORT_UNDO`, into the journal. */
  async takeInbox(): Promise<void> {
    const { undoInbox } = this.#host.attempts.directory
    for (const name of await recordsIn(undoInbox)) {
      const path = join(undoInbox, name)
      const request = await readRequest(path, name)
      const { step, attempt, record } = request ?? unreadable(name)
      const undo = this.#host.nextUndo()
      await this.#host.write({ type: 'undo.recorded', step, attempt, undo, record: await this.#hide(record, undo) })
      await (request === undefined ? rename(path, `${path}.invalid`) : rm(path))
    }
  }

  /** A command that names a secret is kept where secrets are. */
  async #hide(record: UndoRecord, undo: number): Promise<UndoRecord> {
    const { secrets, secretStore } = this.#host.attempts
    const text = JSON.stringify(record.values)
    const described = this.#host.described(record)
    if (secrets.clean(text) === text) return described
    const secret = `undo-${undo}`
    await secretStore.keep(secret, text)
    const { what } = described
    return { ...record, ...(what !== undefined && { what: secrets.clean(what) }), values: { secret } }
  }
}

/** A script may also have taken away the directory itself. */
async function recordsIn(inbox: string): Promise<readonly string[]> {
  try {
    return (await readdir(inbox)).filter((each) => each.endsWith('.undo')).sort()
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return []
    throw error
  }
}

/** undefined for what is no record. */
async function readRequest(path: string, name: string): Promise<UndoRequest | undefined> {
  try {
    return readUndoRequest(await readFile(path), name)
  } catch (error) {
    if (hasSystemCode(error, 'EISDIR') || (error instanceof KnownError && error.code === 'STEP_OUTPUT'))
      return undefined
    throw error
  }
}

/** Something was made, and nobody knows what: it is told with what is left, until a user says that it is gone. */
function unreadable(name: string): UndoRequest {
  const what = `what a script has made, by undo/${name}.invalid, which is no undo record`
  return { step: 'unknown', attempt: 0, record: { kind: undoCommandKind, what, values: {} } }
}
