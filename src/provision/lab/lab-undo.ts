/** Undo records of a lab: what they say, what undoing them does, and what is left. Nothing else is known of the lab. */
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { isTaken } from '../../store/presence.ts'
import type { UndoRecord } from '../provider.ts'
import { removeLabDirectory, removeLabFile } from './lab-directory.ts'
import type { LabHost } from './lab-programs.ts'
import { endMarked, markedProcesses } from './marked-processes.ts'
import { remainsOfNamespace, removeNamespace } from './namespaces.ts'
import { removeSquidMemory, squidMemory } from './squid-memory.ts'

const lab = z.string().regex(/^[a-z0-9-]+$/)
const path = z.string().startsWith('/')

const LabUndo = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('lab-namespace'), lab, name: z.string().regex(/^sallyport-[a-z0-9-]+$/) }),
  z.strictObject({ kind: z.literal('lab-directory'), lab, path }),
  z.strictObject({ kind: z.literal('lab-file'), lab, path }),
  z.strictObject({ kind: z.literal('lab-process'), lab, name: z.string().regex(/^[a-zA-Z0-9.-]+$/) }),
])
export type LabUndo = z.infer<typeof LabUndo>

/** @throws KnownError UNDO_INVALID */
function readUndo(undo: UndoRecord): LabUndo {
  const parsed = LabUndo.safeParse(undo)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new KnownError('UNDO_INVALID', `An undo record of kind "${undo.kind}" is none of the lab: ${issue?.message}`, {
    cause: parsed.error,
  })
}

/** @throws KnownError UNDO_INVALID, LAB_FAILED */
export async function removeFromLab(host: LabHost, record: UndoRecord): Promise<'removed' | 'gone'> {
  return (await remove(host, readUndo(record))) ? 'removed' : 'gone'
}

async function remove(host: LabHost, undo: LabUndo): Promise<boolean> {
  switch (undo.kind) {
    case 'lab-namespace':
      return removeNamespace(host, undo.name)
    case 'lab-directory':
      // Undone last: whoever was being started while the rest went.
      await endMarked(host.clock, undo.lab)
      return removeLabDirectory(undo.path, undo.lab)
    case 'lab-file':
      return removeLabFile(undo.path, undo.lab)
    case 'lab-process':
      return removeServer(host, undo)
  }
}

async function removeServer(
  { clock }: LabHost,
  { lab, name }: { readonly lab: string; readonly name: string },
): Promise<boolean> {
  const wasRunning = await endMarked(clock, lab, name)
  return (name === 'squid' && (await removeSquidMemory(lab))) || wasRunning
}

/** What is left of what a record names. @throws KnownError UNDO_INVALID */
export async function remainsInLab(record: UndoRecord): Promise<readonly string[]> {
  const undo = readUndo(record)
  switch (undo.kind) {
    case 'lab-namespace':
      return remainsOfNamespace(undo.name)
    case 'lab-directory':
    case 'lab-file':
      return (await isTaken(undo.path)) ? [undo.path] : []
    case 'lab-process': {
      const processes = await markedProcesses(undo.lab, undo.name)
      const memory = undo.name === 'squid' ? await squidMemory(undo.lab) : []
      return [...processes.map(({ pid }) => `process ${pid} (${undo.name})`), ...memory]
    }
  }
}
