import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import type { JsonRecord } from '../../journal/events.ts'
import type { UndoHandler } from '../step.ts'
import { imageMark } from './container-image.ts'
import type { ScriptRunner } from './script-run.ts'

const valuesShape = z.object({ argv: z.array(z.string()).min(1) })

/** Runs a command that a script has registered with `$SALLYPORT_UNDO`, in the environment of a step without parameters. */
export function scriptUndo(runner: ScriptRunner): UndoHandler {
  return {
    describe: (values) => `what a script has made, by ${commandOf(values).argv.join(' ')}`,
    async remove(values, context) {
      const literal = { as: 'undo', commands: '' }
      const order = { literal, use: 'discarded', first: 'TERM', attempt: 'undo' } as const
      await runner.run({ ...order, ...commandOf(values) }, context)
    },
  }
}

function commandOf(values: JsonRecord): { readonly argv: readonly string[]; readonly image?: string } {
  const parsed = valuesShape.safeParse(values)
  if (!parsed.success) throw new KnownError('UNDO_INVALID', 'The undo record of a script has no command')
  const [first = '', ...rest] = parsed.data.argv
  return first.startsWith(imageMark) ? { argv: rest, image: first.slice(imageMark.length) } : { argv: parsed.data.argv }
}
