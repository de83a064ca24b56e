import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import type { JsonRecord } from '../../journal/events.ts'
import type { UndoHandler } from '../step.ts'
import type { ScriptRunner } from './script-run.ts'

const valuesShape = z.object({ argv: z.array(z.string()).min(1) })

/** Runs a command that a script has registered with `$SALLYPORT_UNDO`, in the environment of a step without parameters. */
export function scriptUndo(runner: ScriptRunner): UndoHandler {
  return {
    describe: (values) => `what a script has made, by ${argvOf(values).join(' ')}`,
    async remove(values, context) {
      const literal = { as: 'undo', commands: '' }
      await runner.run({ literal, use: 'discarded', first: 'TERM', attempt: 'undo', argv: argvOf(values) }, context)
    },
  }
}

function argvOf(values: JsonRecord): readonly string[] {
  const parsed = valuesShape.safeParse(values)
  if (parsed.success) return parsed.data.argv
  throw new KnownError('UNDO_INVALID', 'The undo record of a script has no command')
}
