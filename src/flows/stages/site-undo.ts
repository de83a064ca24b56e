/** How what the stages have made is taken away, from its records alone. */
import { rm } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import type { Json } from '../../journal/events.ts'
import { removeUnit } from '../../provision/systemd-unit.ts'
import type { StepContext, UndoHandler } from '../../workflow/step.ts'
import { labUndo } from './lab-of-run.ts'
import type { Scope } from './scopes.ts'
import { type StageParts, workFolder } from './stage-parts.ts'

type Host = Pick<StageParts, 'clock' | 'env'>

export function stageUndo(host: Host): Readonly<Record<string, UndoHandler>> {
  return { ...labUndo(host), 'run-path': runPathUndo, 'systemd-unit': unitUndo(host) }
}

/**
 * A folder for files with secrets in them, of this run; recorded, so that they go with the teardown.
 *
 * @param scope what it goes away with
 */
export async function recordedFolder(context: StepContext, name: string, scope: Scope): Promise<string> {
  const folder = workFolder(context, name)
  const path = folder.slice(context.directories.run.length + 1)
  await context.record({ kind: 'run-path', scope, values: { path } })
  return folder
}

const runPathUndo: UndoHandler = {
  describe: ({ path }) => `${text(path)} of this run`,
  async remove({ path }, { directories }) {
    const target = normalize(join(directories.run, text(path)))
    if (!target.startsWith(`${join(directories.run, 'work')}/`)) {
      throw new KnownError('UNDO_INVALID', `"${text(path)}" is not below the work folder of a run`)
    }
    await rm(target, { recursive: true, force: true })
  },
}

function unitUndo(host: Host): UndoHandler {
  return { describe: ({ name }) => `the unit ${text(name)}`, remove: ({ name }) => removeUnit(host, text(name)) }
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
