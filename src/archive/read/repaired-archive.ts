/** Archives together with the repairs that lie beside them. */
import { KnownError } from '../../errors/known-error.ts'
import type { Archive } from './archive.ts'
import type { FoundArchive } from './find-archives.ts'
import { openArchive } from './read-archive.ts'

/**
 * Opens an archive to be loaded. With a repair of it in the same directory it may be damaged: what the repair carries is read
 * from there, and everything is proven when it is used.
 *
 * @param beside all archives of the directory
 * @throws KnownError as `openArchive`
 */
export async function openWithRepairs(found: FoundArchive, beside: readonly FoundArchive[]): Promise<Archive> {
  const repairs = await openRepairs(found, beside)
  const archive = await openArchive(found, { repairs, allowDamage: repairs.length > 0 })
  const [problem] = archive.problems
  if (!problem || archive.repairs.length > 0) return archive
  // Those beside it are of another archive with this number.
  await archive.close()
  throw problem
}

/** Repairs of archives with the number of this one, as far as they can be read. */
export async function openRepairs(found: FoundArchive, beside: readonly FoundArchive[]): Promise<Archive[]> {
  if (found.isRepair) return []
  const repairs: Archive[] = []
  for (const one of beside) {
    if (!one.isRepair || one.sequence !== found.sequence || one.isUnfinished) continue
    try {
      repairs.push(await openArchive(one, { allowDamage: true }))
    } catch (error) {
      // A repair that came damaged is told by its own verification.
      if (!(error instanceof KnownError)) throw error
    }
  }
  return repairs
}
