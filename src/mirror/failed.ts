/**
 * What the last run could not bring to a target, so that `--retry-failed` tries that and nothing else.
 *
 * Kept beside the other state, in `failed.json`; rewritten by each run, and gone when there is nothing in it.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { parsedJson } from '../errors/parsed-json.ts'
import { formatReference } from '../oci/reference.ts'
import type { ResolvedImage } from './closure.ts'
import type { FailedImage } from './failures.ts'
import type { SelectedImage } from './selection.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

const FailedEntry = z.object({
  /** Of the image that was asked for, also where what is attached to it failed. */
  source: z.string(),
  destination: z.string(),
  class: z.enum(['release', 'operator', 'additional', 'helm']),
  code: z.string(),
  message: z.string(),
})
export type FailedEntry = z.infer<typeof FailedEntry>

const FailedFile = z.object({ version: z.literal(1), targets: z.record(z.string(), z.array(FailedEntry)) })

function failedPath(workspace: Workspace): string {
  return join(workspace.state, 'failed.json')
}

/** By `HOST/PATH` of the target; a target whose last run left no failures is not there. */
export async function readFailed(workspace: Workspace): Promise<ReadonlyMap<string, readonly FailedEntry[]>> {
  const text = await readIfPresent(failedPath(workspace))
  if (text === undefined) return new Map()
  // A record that cannot be read is as none: an ordinary run brings whatever is not there yet.
  return new Map(Object.entries(FailedFile.safeParse(parsedJson(text)).data?.targets ?? {}))
}

/**
 * Replaces what is recorded for `target`.
 *
 * @param resolved as `resolveImages` gives them, each image before what is attached to it: a signature that failed is
 * tried again with its image
 */
export async function recordFailed(
  workspace: Workspace,
  target: string,
  { failures, resolved }: { readonly failures: readonly FailedImage[]; readonly resolved: readonly ResolvedImage[] },
): Promise<void> {
  const targets = new Map(await readFailed(workspace))
  targets.delete(target)
  if (failures.length > 0) targets.set(target, entriesOf(failures, ownersOf(resolved)))
  if (targets.size === 0) return rm(failedPath(workspace), { force: true })
  const file = { version: 1, targets: Object.fromEntries(targets) }
  await writeIfChanged(failedPath(workspace), `${JSON.stringify(file, null, 1)}\n`)
}

/** The image that was asked for, by destination of what is attached to it. */
function ownersOf(resolved: readonly ResolvedImage[]): Map<string, SelectedImage> {
  const owners = new Map<string, SelectedImage>()
  let owner: SelectedImage | undefined
  for (const { selected, attachedTo } of resolved) {
    if (attachedTo === undefined) owner = selected
    else if (owner) owners.set(formatReference(selected.destination), owner)
  }
  return owners
}

function entriesOf(failures: readonly FailedImage[], owners: ReadonlyMap<string, SelectedImage>): FailedEntry[] {
  const entries = failures.map(({ image, error }): FailedEntry => {
    const { source, destination } = owners.get(formatReference(image.destination)) ?? image
    return {
      source: formatReference(source),
      destination: formatReference(destination),
      class: image.class,
      code: error.code,
      message: error.message,
    }
  })
  const distinct = new Map(entries.map((entry) => [entry.destination, entry]))
  return [...distinct.values()].sort((a, b) => (a.destination < b.destination ? -1 : 1))
}

/** Those of `images` that failed the last time, and the failed ones that are no longer asked for. */
export function selectFailed(
  images: readonly SelectedImage[],
  failed: readonly FailedEntry[],
): { readonly images: readonly SelectedImage[]; readonly gone: readonly FailedEntry[] } {
  const name = (source: string, destination: string) => `${source} ${destination}`
  const nameOf = (image: SelectedImage) => name(formatReference(image.source), formatReference(image.destination))
  const wanted = new Set(failed.map(({ source, destination }) => name(source, destination)))
  const asked = new Set(images.map(nameOf))
  return {
    images: images.filter((image) => wanted.has(nameOf(image))),
    gone: failed.filter(({ source, destination }) => !asked.has(name(source, destination))),
  }
}
