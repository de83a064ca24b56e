/**
 * The files of a filtered catalog, `<directory>/<package>/catalog.json`, as entries of a layer.
 *
 * The same documents give the same bytes, whatever files they came from: one file for each package and format, the documents
 * in a fixed order, no owner, no time, and modes with which any user can read it (OpenShift runs a catalog as a user that
 * nobody knows beforehand).
 */
import { readSync } from 'node:fs'
import type { TarEntry } from '../archive/tar/ustar.ts'
import { compareText, type DocumentFormat, type KeptDocument } from './fbc-write.ts'
import type { StagedDocument } from './rebuild-stage.ts'

const chunkBytes = 256 * 1024
/** Where documents that belong to no package go: no package can be called that (its name is a DNS label). */
const noPackage = '_'
const lineEnd = Buffer.from('\n')
const yamlStart = Buffer.from('---\n')

interface ContentOptions {
  readonly documents: readonly KeptDocument[]
  /** Where each of them is. */
  readonly staged: readonly StagedDocument[]
  /** The staging file, open for reading until the entries are written. */
  readonly file: number
  /** Of the catalog in the image, absolute. */
  readonly directory: string
}

/** Folders before what is in them, everything by name. */
export function contentEntries({ documents, staged, file, directory }: ContentOptions): TarEntry[] {
  const root = directory.replace(/^\/+|\/+$/g, '')
  const placed = documents.flatMap((document, index) => {
    const place = staged[index]
    return place ? [{ place, path: `${root}/${folderName(document.package)}/catalog.${place.format}` }] : []
  })
  const files = Map.groupBy(placed, ({ path }) => path)
  const folders = new Set([...files.keys()].flatMap(foldersAbove))
  // A catalog of nothing is still a folder.
  for (const folder of foldersAbove(`${root}/.`)) folders.add(folder)
  return [
    ...[...folders].map((name): TarEntry => ({ name: `${name}/`, type: 'directory' })),
    ...[...files].map(
      ([name, parts]): TarEntry =>
        fileEntry(
          name,
          parts.map(({ place }) => place),
          file,
        ),
    ),
  ].sort((a, b) => compareText(a.name, b.name))
}

/** Every folder that leads to a path, without a slash at its end. */
export function foldersAbove(path: string): string[] {
  const steps = path.split('/').slice(0, -1)
  return steps.map((_, index) => steps.slice(0, index + 1).join('/'))
}

/** A package may be called anything in JSON; what is not a plain name becomes one that leads nowhere else. */
function folderName(name: string | undefined): string {
  if (name === undefined) return noPackage
  const encoded = encodeURIComponent(name.toWellFormed())
  return encoded === '' ? '%' : encoded.replace(/^\./, '%2E')
}

function fileEntry(name: string, parts: readonly StagedDocument[], file: number): TarEntry {
  const frames = parts.map((part) => ({ part, ...frame(part) }))
  return {
    name,
    size: frames.reduce((sum, { part, before, after }) => sum + before.byteLength + part.length + after.byteLength, 0),
    content: function* () {
      const buffer = Buffer.alloc(chunkBytes)
      for (const { part, before, after } of frames) {
        if (before.byteLength > 0) yield before
        yield* readPart(file, part, buffer)
        if (after.byteLength > 0) yield after
      }
    },
  }
}

function frame({ format, endsLine }: { format: DocumentFormat; endsLine: boolean }) {
  const nothing = lineEnd.subarray(0, 0)
  return { before: format === 'yaml' ? yamlStart : nothing, after: endsLine ? nothing : lineEnd }
}

/** What it gives is good until more is asked for. */
function* readPart(file: number, { start, length }: StagedDocument, buffer: Buffer): Generator<Uint8Array> {
  let position = start
  while (position < start + length) {
    const count = readSync(file, buffer, 0, Math.min(buffer.byteLength, start + length - position), position)
    if (count === 0) throw new Error(`the staging file ends at ${position}, before ${start + length}`)
    yield buffer.subarray(0, count)
    position += count
  }
}
