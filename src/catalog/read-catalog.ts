/**
 * Reads a catalog as a stream: every document is looked at once, and what remains of it is its meta.
 *
 * The result does not depend on the order in which files come. Which files belong to the catalog is known when all were seen, so
 * what is wrong with one of them is told at the end, and of several faults always the first by path and offset.
 */
import { posix } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import { assembleCatalog } from './assemble-catalog.ts'
import { IgnoreRules, ignoreFileName } from './catalog-files-ignore.ts'
import { invalidCatalog } from './invalid-catalog.ts'
import type { Catalog, CatalogFile, CatalogFiles, Meta } from './meta.ts'
import { FieldFault } from './read-fields.ts'
import { readMeta } from './read-meta.ts'
import { type CatalogDocument, DocumentFault } from './split-document.ts'
import { splitDocuments } from './split-documents.ts'
import { TextPool } from './text-pool.ts'

export interface CatalogProgress {
  readonly files: number
  readonly documents: number
  readonly bytes: number
}

interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  /** Called after every file. */
  readonly onProgress?: (progress: CatalogProgress) => void
}

interface Fault {
  readonly why: string
  /** In the file, in bytes. */
  readonly offset: number
  /** Where it is known. */
  readonly package: string | undefined
  readonly cause: unknown
}

interface ReadFile {
  readonly path: string
  readonly metas: readonly Meta[]
  readonly fault?: Fault
}

const maxIgnoreBytes = 1024 * 1024

/**
 * @throws KnownError CATALOG_INVALID for a file that is broken, a name that is there twice, a channel or bundle without its package,
 * and where there is no file at all; and what `files` throws
 */
export async function readCatalog(files: CatalogFiles, options: ReadOptions = {}): Promise<Catalog> {
  const { signal, onProgress } = options
  const rules = new IgnoreRules()
  const read: ReadFile[] = []
  const done = { files: 0, documents: 0, bytes: 0 }
  for await (const file of files.files(signal)) {
    signal?.throwIfAborted()
    done.files += 1
    done.bytes += file.size
    if (posix.basename(file.path) === ignoreFileName) rules.add(file.path, await readRules(file, files.origin))
    else {
      const one = await readFile(file, signal)
      read.push(one)
      done.documents += one.metas.length
    }
    onProgress?.({ ...done })
  }
  const own = read
    .filter(({ path }) => !rules.excludes(path))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  if (own.length === 0) throw noFiles(files.origin)
  for (const { path, fault } of own) if (fault) throw await invalidCatalog(files, { ...fault, file: path }, signal)
  return assembleCatalog(
    own.flatMap(({ metas }) => metas),
    files,
    signal,
  )
}

/** What can be read of a file, up to the first fault. */
async function readFile(file: CatalogFile, signal: AbortSignal | undefined): Promise<ReadFile> {
  const metas: Meta[] = []
  const pool = new TextPool()
  try {
    for await (const document of splitDocuments(file.open(), file.size)) {
      signal?.throwIfAborted()
      const { offset, value } = document
      const meta = attemptMeta(document, file.path, pool)
      if ('fault' in meta) return { path: file.path, metas, fault: { ...meta.fault, offset, package: ownerOf(value) } }
      metas.push(meta)
    }
    return { path: file.path, metas }
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error
    const { message, offset, head } = error
    return { path: file.path, metas, fault: { why: message, offset, package: ownerIn(head), cause: error } }
  }
}

function attemptMeta({ value, offset, length }: CatalogDocument, file: string, pool: TextPool) {
  try {
    return readMeta(value, { file, offset, length }, pool)
  } catch (cause) {
    if (cause instanceof FieldFault) return { fault: { why: cause.message, cause } }
    throw cause
  }
}

/** Whose document it is, as far as it says so. */
function ownerOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const owner = 'package' in value ? value.package : undefined
  if (typeof owner === 'string') return owner
  const isPackage = 'schema' in value && value.schema === 'olm.package'
  return isPackage && 'name' in value && typeof value.name === 'string' ? value.name : undefined
}

/** The same for a document that cannot be parsed. */
function ownerIn(head: string): string | undefined {
  const field = (name: string) => new RegExp(`(?:^|[{,])\\s*"?${name}"?\\s*:\\s*"?([^"\\s,}]+)`, 'm').exec(head)?.[1]
  const isPackage = field('schema') === 'olm.package'
  return field('package') ?? (isPackage ? field('name') : undefined)
}

async function readRules(file: CatalogFile, origin: string): Promise<string> {
  if (file.size > maxIgnoreBytes) {
    throw new KnownError(
      'CATALOG_INVALID',
      `${origin}: ${file.path} has ${file.size} bytes; ${maxIgnoreBytes} are allowed`,
      {
        details: { catalog: origin, file: file.path },
      },
    )
  }
  return Buffer.concat(await Array.fromAsync(file.open())).toString('utf8')
}

function noFiles(origin: string): KnownError {
  return new KnownError('CATALOG_INVALID', `${origin} is no catalog: it has no file of one`, {
    details: { catalog: origin },
    hint: 'Name the image of a catalog (redhat-operator-index and the like), or the folder that holds its JSON or YAML.',
  })
}
