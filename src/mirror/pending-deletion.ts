/**
 * What a deletion has begun and not ended: written before anything is deleted, so that the parts of an image whose index
 * is gone already are found by the next run. Also tags that a registry could not take away, because it deletes no tag
 * while another one stands for the same image.
 */
import { join } from 'node:path'
import * as z from 'zod'
import { parsedJson } from '../errors/parsed-json.ts'
import { digestText } from '../oci/digest-text.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

const Repository = z.object({
  tags: z.array(z.string()),
  digests: z.array(digestText()),
})
export type PendingRepository = z.infer<typeof Repository>

const PendingFile = z.object({
  version: z.literal(1),
  /** By `HOST/PATH` of the target, then by `HOST/PATH` of the repository. */
  targets: z.record(z.string(), z.record(z.string(), Repository)),
})

/** What is left to delete, by repository. */
export async function readPending(
  workspace: Workspace,
  target: string,
): Promise<ReadonlyMap<string, PendingRepository>> {
  return new Map(Object.entries((await readFile(workspace)).targets[target] ?? {}))
}

/** Replaces what is left to delete at this target. */
export async function writePending(
  workspace: Workspace,
  target: string,
  pending: ReadonlyMap<string, PendingRepository>,
): Promise<void> {
  const file = await readFile(workspace)
  const repositories = [...pending].filter(([, { tags, digests }]) => tags.length + digests.length > 0).sort()
  const { [target]: _, ...others } = file.targets
  const targets = repositories.length > 0 ? { ...others, [target]: Object.fromEntries(repositories) } : others
  if (Object.keys(targets).length + Object.keys(file.targets).length === 0) return
  await writeIfChanged(pathOf(workspace), `${JSON.stringify({ version: 1, targets })}\n`)
}

function pathOf(workspace: Workspace): string {
  return join(workspace.state, 'deletions.json')
}

async function readFile(workspace: Workspace): Promise<z.infer<typeof PendingFile>> {
  const text = await readIfPresent(pathOf(workspace))
  // Lost with one that cannot be read is only what an interrupted run left without a name; the list is asked for again.
  const known = text === undefined ? undefined : PendingFile.safeParse(parsedJson(text)).data
  return known ?? { version: 1, targets: {} }
}
