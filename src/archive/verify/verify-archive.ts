/** Proves an archive: every byte of it, how it is signed, and what each damage means for the images in it. */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { type Digest, hexOf } from '../../oci/digest.ts'
import { sizes } from '../format/format.ts'
import { type ArchiveVerifier, archiveMessage, verifySignature } from '../format/signature.ts'
import type { Archive } from '../read/archive.ts'
import type { FoundArchive } from '../read/find-archives.ts'
import { imagesNeeding } from '../read/images-needing.ts'
import { openArchive } from '../read/read-archive.ts'
import { ReadVolumes } from '../read/read-volumes.ts'
import { isNear, readVolume } from '../read/recorded-checksum.ts'
import { openRepairs } from '../read/repaired-archive.ts'
import type { DamagedRange } from './damage-log.ts'
import { asRepaired, leftByRepairs } from './repaired-damage.ts'
import { verifyContent } from './verify-content.ts'
import { damageFindings, holeFindings, indexFindings } from './verify-findings.ts'

/** What is damaged, for those who have it carried again or mend it. */
export interface ArchiveDamage {
  /** Blobs and manifests. */
  readonly blobs: readonly Digest[]
  /** Entries of the index, by name: `sallyport/archive.json`, … */
  readonly entries: readonly string[]
  /** Numbers of volumes that are not there, or belong to another archive. */
  readonly volumes: readonly number[]
  /** Everything, byte by byte. */
  readonly ranges: readonly DamagedRange[]
}

export interface ArchiveVerification {
  readonly found: FoundArchive
  /** Undefined where the index cannot be read. */
  readonly archive?: Pick<Archive, 'id' | 'record' | 'blobs' | 'volumes' | 'holes'>
  /** Bytes that were read. */
  readonly bytes: number
  readonly signature: 'none' | 'not checked' | 'valid' | 'wrong'
  readonly findings: readonly Finding[]
  readonly damage: ArchiveDamage
}

export interface VerifyArchiveOptions {
  /** Whose signature it has to have. */
  readonly verifier?: ArchiveVerifier | undefined
  /** All archives of the directory: what a repair among them brought is not missing any more. */
  readonly beside?: readonly FoundArchive[] | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes that were read since the last call. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/**
 * Reads every byte once. What is wrong is in the result, never thrown.
 *
 * @throws KnownError ARCHIVE_UNFINISHED; ARCHIVE_INVALID where it is none, whatever may have happened to it on the way
 */
export async function verifyArchive(
  found: FoundArchive,
  options: VerifyArchiveOptions = {},
): Promise<ArchiveVerification> {
  const archive = await openDamaged(found, options.beside ?? [])
  if (archive instanceof KnownError) return withoutIndex(found, archive)
  const files = new ReadVolumes(found)
  try {
    const foreign = await foreignVolumes(archive, files)
    const { verifier, beside: _, ...progress } = options
    const content = await verifyContent(archive, { files, foreign, ...progress })
    const ranges = [...content.ranges, ...strayVolumes(archive)].sort(
      (a, b) => a.volume - b.volume || a.start - b.start,
    )
    const gone = ranges.filter(({ kind }) => kind === 'missing' || kind === 'foreign').map(({ volume }) => volume)
    const images = ranges.length > 0 ? await imagesNeeding(archive) : new Map<Digest, readonly string[]>()
    const signed = checkSignature(archive, verifier)
    const damage = { blobs: content.blobs, entries: content.entries, volumes: gone, ranges }
    const left = await leftByRepairs(archive, damage, options.signal)
    const findings = damageFindings(archive, { ranges, blobs: content.blobs, images })
    return {
      found,
      archive,
      bytes: content.bytes,
      signature: signed.signature,
      findings: [
        ...(left.isRepaired ? findings.map(asRepaired) : findings),
        ...signed.findings,
        ...holeFindings(archive),
      ],
      damage: { ...damage, blobs: left.blobs, entries: left.entries },
    }
  } finally {
    await files.close()
    await archive.close()
  }
}

/** The archive as far as it can be opened, or why not. */
async function openDamaged(found: FoundArchive, beside: readonly FoundArchive[]): Promise<Archive | KnownError> {
  try {
    return await openArchive(found, { allowDamage: true, repairs: await openRepairs(found, beside) })
  } catch (error) {
    const isDamage =
      error instanceof KnownError && ['ARCHIVE_DAMAGED', 'ARCHIVE_INCOMPLETE', 'FILE_UNREADABLE'].includes(error.code)
    if (isDamage) return error
    throw error
  }
}

function withoutIndex(found: FoundArchive, error: KnownError): ArchiveVerification {
  const { findings, ranges, entries, volumes } = indexFindings(found, error)
  return { found, bytes: 0, signature: 'not checked', findings, damage: { blobs: [], entries, volumes, ranges } }
}

/** Volumes that belong to another archive: not those in whose record a few digits are wrong. */
async function foreignVolumes(archive: Archive, files: ReadVolumes): Promise<ReadonlySet<number>> {
  const foreign = new Set<number>()
  for (const { volume } of archive.found.volumes) {
    const bytes = Buffer.alloc(Math.max(0, Math.min(sizes.volumeRecord, (files.sizeOf(volume) ?? 0) - sizes.tarBlock)))
    await files.read({ volume, offset: sizes.tarBlock }, bytes).catch(ignoreUnreadable)
    const id = readVolume(bytes)?.id
    if (id !== undefined && id !== archive.id && !isNear(hexOf(id), hexOf(archive.id))) foreign.add(volume)
  }
  return foreign
}

/** It is read once more, and told then. */
function ignoreUnreadable(error: unknown): void {
  if (!(error instanceof KnownError)) throw error
}

function strayVolumes(archive: Archive): readonly DamagedRange[] {
  return archive.found.volumes
    .filter(({ volume }) => volume > archive.volumes)
    .map(({ volume, size }) => {
      return {
        volume,
        file: archive.pathOf(volume),
        start: 0,
        end: size,
        entry: 'more than was written',
        kind: 'longer',
      }
    })
}

function checkSignature(
  archive: Archive,
  verifier: ArchiveVerifier | undefined,
): Pick<ArchiveVerification, 'signature' | 'findings'> {
  const { end } = archive
  if (!verifier) return { signature: end?.signature ? 'not checked' : 'none', findings: [] }
  const text = end ? archiveMessage(end) : ''
  try {
    verifySignature(verifier, { text, signature: end?.signature, what: archive.pathOf(archive.volumes) })
    return { signature: 'valid', findings: [] }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    const { message: summary, hint: remedy } = error
    const signature = end?.signature ? 'wrong' : 'none'
    return { signature, findings: [finding({ id: 'archive.signature', severity: 'error', summary, remedy })] }
  }
}
