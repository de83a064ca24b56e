/**
 * What earlier runs brought to a target, so that a run with nothing to do asks one question per repository.
 *
 * A record, not a proof: an image counts as present only if its repository still lists its tag.
 */
import { join } from 'node:path'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { parsedJson } from '../errors/parsed-json.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource, ContentTarget } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { digestText } from '../oci/digest-text.ts'
import { formatReference, parseReference, repositoryName } from '../oci/reference.ts'
import { isDoubtful } from './doubtful.ts'
import type { ContentClass, SelectedImage } from './selection.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

const DigestText = digestText()

const DoneImage = z.object({
  source: z.string(),
  destination: z.string(),
  digest: DigestText,
  class: z.enum(['release', 'operator', 'additional', 'helm']),
  why: z.string(),
  isReleaseImage: z.boolean().optional(),
  isCatalog: z.boolean().optional(),
  /** The only platforms of it that were brought, each as `linux/amd64`; absent for all. */
  platforms: z.array(z.string()).optional(),
  /** Destinations of the signatures and other artifacts that came with it. */
  attached: z.array(z.object({ destination: z.string(), digest: z.string() })).default([]),
  /**
   * Set where verification found the image broken: the next run looks at each of its blobs, and sends `wrongBlobs` anew
   * although the target says that it has them.
   */
  suspect: z.object({ wrongBlobs: z.array(DigestText) }).optional(),
})
export type DoneImage = z.infer<typeof DoneImage>

const DoneFile = z.object({
  version: z.literal(1),
  /** By `HOST/PATH` of the target. */
  targets: z.record(z.string(), z.array(DoneImage)),
})
type DoneFile = z.infer<typeof DoneFile>

function donePath(workspace: Workspace): string {
  return join(workspace.state, 'done.json')
}

async function readFile(workspace: Workspace): Promise<DoneFile> {
  const text = await readIfPresent(donePath(workspace))
  // A record that cannot be read costs time, not safety: everything is looked at anew.
  const known = text === undefined ? undefined : DoneFile.safeParse(parsedJson(text)).data
  return known ?? { version: 1, targets: {} }
}

/** What is recorded, by `HOST/PATH` of the target. */
export async function readDone(workspace: Workspace): Promise<ReadonlyMap<string, readonly DoneImage[]>> {
  return new Map(Object.entries((await readFile(workspace)).targets))
}

/**
 * Notes that images are broken at the target, so that their tags do not count as a proof any more.
 *
 * @param broken by destination, with the blobs there whose bytes are wrong
 */
export async function markSuspect(
  workspace: Workspace,
  target: string,
  broken: ReadonlyMap<string, readonly Digest[]>,
): Promise<void> {
  const images = (await readDone(workspace)).get(target) ?? []
  const marked = images.flatMap((image) => {
    const wrongBlobs = broken.get(image.destination)
    if (wrongBlobs === undefined) return []
    const known = image.suspect?.wrongBlobs ?? []
    return [{ ...image, suspect: { wrongBlobs: [...new Set([...known, ...wrongBlobs])] } }]
  })
  await recordDone(workspace, target, marked)
}

/**
 * Adds images to the record; one with the same destination is replaced.
 *
 * @param options.gone destinations that are taken out of the record first: they were deleted
 */
export async function recordDone(
  workspace: Workspace,
  target: string,
  images: readonly DoneImage[],
  options: { readonly gone?: ReadonlySet<string> } = {},
): Promise<void> {
  const file = await readFile(workspace)
  const known = (file.targets[target] ?? []).filter(({ destination }) => !options.gone?.has(destination))
  const all = new Map([...known, ...images].map((image) => [image.destination, image]))
  const sorted = [...all.values()].sort((a, b) => (a.destination < b.destination ? -1 : 1))
  await writeIfChanged(
    donePath(workspace),
    `${JSON.stringify({ ...file, targets: { ...file.targets, [target]: sorted } })}\n`,
  )
}

export interface ProveOptions {
  readonly source: ContentSource
  readonly target: ContentTarget
  readonly signal: AbortSignal
}

/**
 * Those of `images` that are recorded, and not as suspect, with the digest their source has now, and whose tags the
 * target still lists.
 *
 * Images named by tag are resolved at their source, since a tag can move; those named by digest are not asked for.
 */
export async function provenImages(
  images: readonly SelectedImage[],
  recorded: readonly DoneImage[],
  options: ProveOptions,
): Promise<Map<SelectedImage, DoneImage>> {
  const byDestination = new Map(recorded.map((image) => [image.destination, image]))
  const candidates = await mapConcurrently(images, 32, async (image) => {
    const done = byDestination.get(formatReference(image.destination))
    if (!done || isDoubtful(done, image) || done.source !== formatReference(image.source)) return undefined
    const digest =
      image.source.digest ??
      (await unlessRefused(options, () => options.source.resolve(image.source, options.signal)))?.digest
    return digest === done.digest ? { image, done } : undefined
  })
  const known = candidates.filter((candidate) => candidate !== undefined)
  const tags = await tagsOf(
    known.map(({ image }) => repositoryName(image.destination)),
    options,
  )
  return new Map(known.filter(({ done }) => isListed(done, tags)).map(({ image, done }) => [image, done]))
}

async function tagsOf(repositories: readonly string[], options: ProveOptions): Promise<Map<string, Set<string>>> {
  const unique = [...new Set(repositories)]
  const lists = await mapConcurrently(unique, 16, async (repository) => {
    const tags = await unlessRefused(options, () => options.target.tags(parseReference(repository), options.signal))
    return [repository, new Set(tags ?? [])] as const
  })
  return new Map(lists)
}

/** An image that nothing can be learned of is not proven; what is wrong with it is told when it is mirrored. */
async function unlessRefused<T>({ signal }: ProveOptions, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof KnownError)) throw error
    return undefined
  }
}

function isListed(done: DoneImage, tags: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  return [done, ...done.attached].every(({ destination }) => {
    const reference = parseReference(destination)
    return reference.tag === undefined || tags.get(repositoryName(reference))?.has(reference.tag) === true
  })
}

/** The classes whose failure each bit of the exit status tells (openshift/oc-mirror `internal/pkg/errcode/code.go`). */
export const failureBits: Record<ContentClass, number> = { release: 2, operator: 4, additional: 8, helm: 16 }
