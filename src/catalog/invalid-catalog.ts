/** Says where a catalog is broken. */
import { KnownError } from '../errors/known-error.ts'
import type { CatalogFiles } from './meta.ts'

export interface CatalogFault {
  readonly why: string
  /** Path below the folder of the catalog. */
  readonly file: string
  /** In the file, in bytes. */
  readonly offset: number
  readonly package: string | undefined
  readonly cause?: unknown
}

const lineFeed = 0x0a

/** The error to throw. Files are read once more, since lines are not counted while all is well. */
export async function invalidCatalog(
  files: CatalogFiles,
  { why, file, offset, package: owner, cause }: CatalogFault,
  signal?: AbortSignal,
): Promise<KnownError> {
  const line = await lineOf(files, { file, offset }, signal)
  const about = owner === undefined ? '' : ` (package "${owner}")`
  return new KnownError('CATALOG_INVALID', `${files.origin}: ${file}, line ${line}, byte ${offset}: ${why}${about}`, {
    details: { catalog: files.origin, file, line, offset, package: owner },
    cause,
  })
}

/** From 1 on. */
async function lineOf(
  files: CatalogFiles,
  { file, offset }: { readonly file: string; readonly offset: number },
  signal: AbortSignal | undefined,
): Promise<number> {
  for await (const each of files.files(signal)) {
    if (each.path !== file) continue
    let line = 1
    let left = offset
    for await (const chunk of each.open()) {
      const bytes = chunk.subarray(0, left)
      for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) line += 1
      left -= bytes.byteLength
      if (left === 0) break
    }
    return line
  }
  return 1
}
