/** What was made in earlier runs of a workspace: a plan, and an archive that is gone on with, name only digests. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readKeptImage } from '../catalog/rebuild-kept.ts'
import { readRecordedFiles } from '../mirror/file-record.ts'
import { readGraphImage } from '../mirror/graph-image.ts'
import { keepMadeImage, readMadeImage } from '../mirror/kept-made-image.ts'
import type { MadeImage } from '../mirror/made-content.ts'
import { madeFile } from '../mirror/select-files.ts'
import { readIfPresent, type Workspace, writeIfChanged } from '../mirror/workspace.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import type { WebClient } from '../remote/web-client.ts'
import { ifThere } from '../store/presence.ts'

export async function keptMadeImages(
  workspace: Workspace,
  making: { readonly web: WebClient } | undefined,
  signal: AbortSignal,
): Promise<readonly MadeImage[]> {
  if (!making) return []
  const { web } = making
  const graph = await readGraphImage(workspace)
  const files = await readRecordedFiles(workspace)
  const catalogs = await readEach(catalogsDirectory(workspace), readCatalog)
  const charts = await readEach(chartsDirectory(workspace), readMadeImage)
  return [...(graph ? [graph] : []), ...files.map((file) => madeFile(file, { web, signal })), ...catalogs, ...charts]
}

async function readEach(
  directory: string,
  read: (path: string) => Promise<MadeImage | undefined>,
): Promise<MadeImage[]> {
  const names = (await ifThere(readdir(directory))) ?? []
  const images = await Promise.all(names.map((name) => read(join(directory, name))))
  return images.filter((image) => image !== undefined)
}

/** Each catalog that is filtered has a directory here. */
export function catalogsDirectory({ state }: Workspace): string {
  return join(state, 'made', 'catalogs')
}

/** Says of a catalog in `directory`, which `rebuildCatalog` keeps there, what it is called and what it is built on. */
export async function nameKeptCatalog(directory: string, { reference, base }: MadeImage): Promise<void> {
  const names = { reference: formatReference(reference), ...(base && { base: formatReference(base) }) }
  await writeIfChanged(join(directory, 'names.json'), `${JSON.stringify(names)}\n`)
}

async function readCatalog(directory: string): Promise<MadeImage | undefined> {
  const text = await readIfPresent(join(directory, 'names.json'))
  const kept = text === undefined ? undefined : await readKeptImage(directory)
  if (text === undefined || !kept) return undefined
  const { reference, base } = JSON.parse(text) as { reference: string; base?: string }
  return { ...kept, reference: parseReference(reference), ...(base !== undefined && { base: parseReference(base) }) }
}

function chartsDirectory({ state }: Workspace): string {
  return join(state, 'made', 'charts')
}

/** A chart is small: it is kept whole. */
export async function keepChart(workspace: Workspace, chart: MadeImage): Promise<void> {
  const blobs = new Map<Digest, Uint8Array>()
  for (const [digest, open] of chart.blobs) blobs.set(digest, Buffer.concat(await Array.fromAsync(open({}))))
  const { repository, tag } = chart.reference
  await keepMadeImage(join(chartsDirectory(workspace), `${repository.replaceAll('/', '-')}-${tag}`), {
    ...chart,
    blobs,
  })
}
