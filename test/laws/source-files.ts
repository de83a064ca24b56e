import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** From the root of the repository: `src/oci/digest.ts`. */
  readonly path: string
  readonly text: string
}

/** The TypeScript files below `folder`, in the order of their paths. */
export async function sourceFiles(folder: string): Promise<SourceFile[]> {
  const entries = await readdir(join(repositoryRoot, folder), { recursive: true })
  const paths = entries.filter((entry) => entry.endsWith('.ts')).map((entry) => join(folder, entry))
  return Promise.all(
    paths.sort().map(async (path) => ({ path, text: await readFile(join(repositoryRoot, path), 'utf8') })),
  )
}

export function isTest(file: SourceFile): boolean {
  return file.path.endsWith('.test.ts')
}

/** What ships: the files of `src/` that are no tests. */
export async function shippedFiles(): Promise<SourceFile[]> {
  return (await sourceFiles('src')).filter((file) => !isTest(file))
}

/** `text` without its comments. Enough for code that Biome has formatted; `//` inside a string needs a `:` before it. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}
