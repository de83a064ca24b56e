/** The way of files over the gap, put together from the pieces that the flows are made of. */
import { archiveStem } from '../src/archive/format/volume-names.ts'
import { archiveSource } from '../src/archive/read/archive-source.ts'
import { findArchives } from '../src/archive/read/find-archives.ts'
import { openArchive } from '../src/archive/read/read-archive.ts'
import { ArchiveWriter, type SealedArchive } from '../src/archive/write/write-archive.ts'
import type { FileEntry } from '../src/config/image-set-files.ts'
import { archiveHole, archiveImage, contentOf } from '../src/mirror/archive-plan.ts'
import { archiveTarget } from '../src/mirror/archive-target.ts'
import type { MirrorTarget } from '../src/mirror/destination.ts'
import { Failures } from '../src/mirror/failures.ts'
import { LocalContent } from '../src/mirror/local-content.ts'
import { withMadeContent } from '../src/mirror/made-content.ts'
import { planMirror } from '../src/mirror/plan.ts'
import { planLines } from '../src/mirror/plan-file.ts'
import { resolveImages } from '../src/mirror/resolve-images.ts'
import { selectFiles } from '../src/mirror/select-files.ts'
import { type TransferReport, transfer } from '../src/mirror/transfer.ts'
import { workspaceAt } from '../src/mirror/workspace.ts'
import type { ContentSource, ContentTarget } from '../src/oci/content.ts'
import type { WebClient } from '../src/remote/web-client.ts'

/** Asked for nothing: everything that a test carries is made. */
const noSource: ContentSource = {
  resolve: async () => undefined,
  resolveBeside: async () => undefined,
  fetchManifest: async () => undefined,
  referrers: async () => [],
  fetchBlob: () => {
    throw new Error('there is nothing to be fetched')
  },
}

export interface Carriage {
  readonly entries: readonly FileEntry[]
  readonly web: WebClient
  /** What paths are relative to, and the workspace. */
  readonly cwd: string
  readonly signal: AbortSignal
}

interface DiskCarriage extends Carriage {
  readonly directory: string
  readonly volumeBytes: number
}

async function prepare({ entries, web, cwd, signal }: Carriage, target: MirrorTarget) {
  const workspace = workspaceAt(cwd, '/')
  const local = new LocalContent(workspace)
  const making = { web, local, workspace, signal, tell: () => undefined }
  const { images, made, unreadable } = await selectFiles(entries, { target, cwd, making })
  const source = withMadeContent(noSource, made)
  const failures = new Failures(() => undefined)
  for (const { image, error } of unreadable) failures.add(image, error)
  const resolved = await resolveImages(images, { source, signal, onEvent: () => undefined, failures })
  return { source, local, failures, resolved, images }
}

/** Files into an archive. */
export async function carryToDisk(carriage: DiskCarriage): Promise<SealedArchive> {
  const { directory, volumeBytes, signal } = carriage
  const { source, local, failures, resolved, images } = await prepare(carriage, archiveTarget)
  const plan = planMirror(archiveTarget.registry, resolved, () => false)
  const draft = {
    ...({ kind: 'full', sequence: 1, volumeBytes, configuration: '' } as const),
    ...contentOf(plan, () => false),
    images: resolved.map(archiveImage),
    plan: () => planLines(plan),
  }
  const writer = await ArchiveWriter.open({ directory, stem: archiveStem(1), draft, signal })
  try {
    const report = await transfer(plan, { source, local, target: writer, signal, onEvent: () => undefined })
    failures.addFrom(report, images)
    return await writer.seal(failures.list.map(archiveHole), async () => undefined)
  } finally {
    await writer.close()
  }
}

/** Files straight into a registry. */
export async function carryToRegistry(
  carriage: Carriage,
  target: MirrorTarget,
  registry: ContentTarget,
): Promise<TransferReport> {
  const { source, local, resolved } = await prepare(carriage, target)
  const plan = planMirror(target.registry, resolved, () => false)
  const { signal } = carriage
  return transfer(plan, { source, local, target: registry, signal, onEvent: () => undefined })
}

/** Out of an archive into a registry, by the configuration alone: no URL is asked, and no file opened. */
export async function loadFromDisk(
  { directory, entries, signal }: Pick<DiskCarriage, 'directory' | 'entries' | 'signal'>,
  target: MirrorTarget,
  registry: ContentTarget,
): Promise<TransferReport> {
  const [found] = await findArchives(directory)
  if (!found) throw new Error(`no archive in ${directory}`)
  const archive = await openArchive(found)
  try {
    const source = archiveSource([archive])
    const { images } = await selectFiles(entries, { target, cwd: '/nowhere' })
    const failures = new Failures(() => undefined)
    const resolved = await resolveImages(images, { source, signal, onEvent: () => undefined, failures })
    const plan = planMirror(target.registry, resolved, () => false)
    return await transfer(plan, { source, target: registry, signal, onEvent: () => undefined })
  } finally {
    await archive.close()
  }
}
