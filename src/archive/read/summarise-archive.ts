/** What is in an archive, in few words. Pure. */
import type { Digest } from '../../oci/digest.ts'
import type { ArchiveHole, ArchiveImage, ArchiveRecord } from '../format/records.ts'
import { volumeName } from '../format/volume-names.ts'
import type { Archive } from './archive.ts'

export interface ArchiveSummary extends Pick<ArchiveRecord, 'kind' | 'sequence' | 'parent' | 'repairs' | 'target'> {
  readonly directory: string
  readonly stem: string
  readonly id: Digest
  readonly isSigned: boolean
  /** By their names in the directory. */
  readonly volumes: readonly { readonly file: string; readonly size: number; readonly isMissing: boolean }[]
  /** What is carried. */
  readonly carried: ArchiveRecord['totals']
  /** Blobs and manifests that the target held when the archive was made. */
  readonly held: number
  /** By class. */
  readonly classes: Readonly<Record<string, { readonly images: number; readonly attached: number }>>
  readonly images: readonly SummarisedImage[]
  readonly holes: readonly ArchiveHole[]
  /** What is wrong with it at first sight. */
  readonly problems: readonly string[]
}

export interface SummarisedImage extends ArchiveImage {
  /** `carried`: its manifest is here. `held`: the target has it. `missing`: in a missing volume, or a hole. */
  readonly state: 'carried' | 'held' | 'missing'
}

export function summariseArchive(archive: Archive): ArchiveSummary {
  const { found, id, record, end, holes, blobs, problems } = archive
  const { kind, sequence, parent, repairs, target } = record
  return {
    directory: found.directory,
    stem: found.stem,
    id,
    kind,
    sequence,
    ...(parent !== undefined && { parent }),
    ...(repairs !== undefined && { repairs }),
    ...(target !== undefined && { target }),
    isSigned: end?.signature !== undefined,
    volumes: volumesOf(archive),
    carried: record.totals,
    held: [...blobs.values()].filter(({ place }) => place === undefined).length,
    classes: classesOf(record.images),
    images: record.images.map((image) => ({ ...image, state: stateOf(archive, image) })),
    holes: holes?.images ?? record.failed ?? [],
    problems: problems.map(({ message }) => message),
  }
}

function volumesOf(archive: Archive): ArchiveSummary['volumes'] {
  const sizes = new Map(archive.found.volumes.map(({ volume, size }) => [volume, size]))
  return Array.from({ length: archive.volumes }, (_, index) => {
    const volume = index + 1
    const size = sizes.get(volume) ?? archive.expectedSize(volume) ?? 0
    return { file: volumeName(archive.found.stem, volume), size, isMissing: !sizes.has(volume) }
  })
}

function classesOf(images: readonly ArchiveImage[]): ArchiveSummary['classes'] {
  const classes: Record<string, { images: number; attached: number }> = {}
  for (const { class: name, attachedTo } of images) {
    const counts = classes[name] ?? { images: 0, attached: 0 }
    classes[name] = counts
    counts[attachedTo === undefined ? 'images' : 'attached'] += 1
  }
  return classes
}

function stateOf(archive: Archive, { digest }: ArchiveImage): SummarisedImage['state'] {
  if (archive.has(digest)) return 'carried'
  return archive.blobs.get(digest)?.place ? 'missing' : 'held'
}
