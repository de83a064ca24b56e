/** The images that are made for a run: the graph image, and files as artifacts. */
import type { ImageSetConfiguration } from '../config/image-set-configuration.ts'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { resolveImage } from '../mirror/closure.ts'
import type { MirrorTarget } from '../mirror/destination.ts'
import { bringGraphData } from '../mirror/graph-data.ts'
import { graphImageBase, graphImageSelected, makeGraphImage } from '../mirror/graph-image.ts'
import type { LocalContent } from '../mirror/local-content.ts'
import type { MadeImage } from '../mirror/made-content.ts'
import type { CheckImage } from '../mirror/resolve-images.ts'
import { selectFiles, type WantedFile } from '../mirror/select-files.ts'
import type { ContentClass, SelectedImage, Selection, UnreadableImage } from '../mirror/selection.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Making } from './mirror-services.ts'

export interface MadeSelection extends Pick<Selection, 'images' | 'unreadable' | 'findings'> {
  /** To be laid over the source of the transfer; none where the source is an archive. */
  readonly made: readonly MadeImage[]
}

export interface MadeOptions {
  readonly target: MirrorTarget
  readonly workspace: Workspace
  readonly source: ContentSource
  readonly local?: LocalContent | undefined
  /** Absent where the source has what was made. */
  readonly making?: Making | undefined
  /** Classes that are left out. */
  readonly skip: ReadonlySet<ContentClass>
  readonly cwd?: string | undefined
  readonly bootFiles: readonly WantedFile[]
  /** What others made is looked at as any image is: the base of the graph image. */
  readonly check?: CheckImage | undefined
  readonly signal: AbortSignal
}

/** @throws KnownError DISK_FULL; what cannot be made is in the result */
export async function selectMade({ mirror }: ImageSetConfiguration, options: MadeOptions): Promise<MadeSelection> {
  const { target, workspace, local, making, skip, bootFiles, signal } = options
  const files = await selectFiles(mirror.files ?? [], {
    ...{ target, skip, bootImages: bootFiles, cwd: options.cwd ?? '' },
    ...(making && local && { making: { ...making, local, workspace, signal } }),
  })
  const isGraphWanted = mirror.platform?.graph === true && !skip.has('release')
  const { platforms, architectures } = mirror.platform ?? {}
  const nodes = platforms?.length ? platforms.map(({ architecture }) => architecture) : architectures
  const graph = isGraphWanted ? await selectGraphImage(nodes, options) : nothing
  return {
    images: [...graph.images, ...files.images],
    made: [...graph.made, ...files.made],
    unreadable: [...graph.unreadable, ...files.unreadable],
    findings: graph.findings,
  }
}

const nothing: MadeSelection = { images: [], made: [], unreadable: [], findings: [] }

async function selectGraphImage(
  architectures: readonly string[] = ['amd64'],
  { target, workspace, source, making, check, signal }: MadeOptions,
): Promise<MadeSelection> {
  const image = graphImageSelected(target)
  if (!making) return { ...nothing, images: [image] }
  const findings: Finding[] = []
  try {
    if (check) await checkBase({ ...image, source: graphImageBase }, check, { source, signal })
    const { web, updateUrl: override } = making
    const report = (one: Finding) => void findings.push(one)
    const graphData = await bringGraphData({ web, override, workspace, signal, report })
    const base = { source, reference: graphImageBase }
    const made = await makeGraphImage({ graphData, base, architectures, workspace, signal })
    return { images: [image], made: [made], unreadable: [], findings }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof KnownError) || !/^(?:GRAPH|MANIFEST|REGISTRY|WEB|POLICY|SIGNATURE)_/.test(error.code))
      throw error
    const unreadable: UnreadableImage[] = [{ image, error }]
    return { ...nothing, unreadable, findings }
  }
}

async function checkBase(base: SelectedImage, check: CheckImage, context: Parameters<CheckImage>[1]): Promise<void> {
  const [image] = await resolveImage(base, { ...context, withoutAttached: true })
  if (image) await check({ image, attached: [] }, context)
}
