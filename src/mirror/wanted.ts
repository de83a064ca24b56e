/**
 * What the last run was asked to bring to a target, written before anything moves: an image that never arrived, because its
 * run failed or was interrupted, is otherwise one that nobody misses.
 */
import { join } from 'node:path'
import * as z from 'zod'
import { parsedJson } from '../errors/parsed-json.ts'
import { formatReference } from '../oci/reference.ts'
import type { SelectedImage } from './selection.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

const WantedImage = z.object({ source: z.string(), destination: z.string(), why: z.string() })
export type WantedImage = z.infer<typeof WantedImage>

const WantedFile = z.object({ version: z.literal(1), targets: z.record(z.string(), z.array(WantedImage)) })

function wantedPath(workspace: Workspace): string {
  return join(workspace.state, 'wanted.json')
}

/** By `HOST/PATH` of the target. */
export async function readWanted(workspace: Workspace): Promise<ReadonlyMap<string, readonly WantedImage[]>> {
  const text = await readIfPresent(wantedPath(workspace))
  if (text === undefined) return new Map()
  // Written anew by the next run; until then only what arrived can be verified.
  return new Map(Object.entries(WantedFile.safeParse(parsedJson(text)).data?.targets ?? {}))
}

/** Replaces what was wanted for this target. */
export async function recordWanted(
  workspace: Workspace,
  target: string,
  images: readonly SelectedImage[],
): Promise<void> {
  const wanted = images.map(({ source, destination, why }): WantedImage => {
    return { source: formatReference(source), destination: formatReference(destination), why }
  })
  await writeWanted(workspace, target, wanted)
}

/** Takes images out that were deleted on purpose: nobody misses them until they are asked for again. */
export async function forgetWanted(workspace: Workspace, target: string, gone: ReadonlySet<string>): Promise<void> {
  const wanted = (await readWanted(workspace)).get(target)
  if (!wanted?.some(({ destination }) => gone.has(destination))) return
  const left = wanted.filter(({ destination }) => !gone.has(destination))
  await writeWanted(workspace, target, left)
}

async function writeWanted(workspace: Workspace, target: string, wanted: readonly WantedImage[]): Promise<void> {
  const targets = { ...Object.fromEntries(await readWanted(workspace)), [target]: wanted }
  await writeIfChanged(wantedPath(workspace), `${JSON.stringify({ version: 1, targets })}\n`)
}
