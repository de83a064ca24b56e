/** What is still missing of a damaged archive when the repairs beside it are counted. */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { algorithmOf, type Digest, hasherFor, hexOf } from '../../oci/digest.ts'
import { entryNames } from '../format/format.ts'
import type { Archive } from '../read/archive.ts'

interface LeftDamage {
  readonly blobs: readonly Digest[]
  readonly entries: readonly string[]
  /** True where there is a repair, and nothing that a load needs is missing any more. */
  readonly isRepaired: boolean
}

/** Everything that a repair is said to have is proven. */
export async function leftByRepairs(
  archive: Archive,
  { blobs, entries }: Pick<LeftDamage, 'blobs' | 'entries'>,
  signal?: AbortSignal,
): Promise<LeftDamage> {
  const { files } = archive.record
  const documents = new Map<string, Digest>([
    [entryNames.archive, archive.id],
    [entryNames.blobs, files.blobs.digest],
    [entryNames.plan, files.plan.digest],
  ])
  const leftBlobs: Digest[] = []
  for (const digest of blobs) if (!(await isRepaired(archive, digest, signal))) leftBlobs.push(digest)
  const leftEntries: string[] = []
  for (const name of entries) {
    const digest = documents.get(name)
    if (!digest || !(await isRepaired(archive, digest, signal))) leftEntries.push(name)
  }
  const isWhole = leftBlobs.length === 0 && !leftEntries.some((name) => documents.has(name))
  return { blobs: leftBlobs, entries: leftEntries, isRepaired: archive.repairs.length > 0 && isWhole }
}

/** The finding about an archive whose repair lies beside it. */
export function asRepaired(damage: Finding): Finding {
  return finding({
    ...damage,
    severity: 'warning',
    remedy: 'A repair beside it has what a load needs. sallyport archive repair writes it into these volumes.',
  })
}

async function isRepaired({ repairs }: Archive, digest: Digest, signal?: AbortSignal): Promise<boolean> {
  const repair = repairs.find((one) => one.has(digest))
  if (!repair) return false
  const hash = hasherFor(algorithmOf(digest))
  try {
    for await (const chunk of repair.open(digest, { signal })) hash.update(chunk)
  } catch (error) {
    if (error instanceof KnownError) return false
    throw error
  }
  return hash.digest('hex') === hexOf(digest)
}
