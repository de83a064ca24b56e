/** What is in a directory, in a form in which two of them can be compared. */
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

interface TreeEntry {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  /** In octal digits; of links nothing. */
  readonly mode: string
  /** `UID:GID`; nothing where it is not asked for. */
  readonly owner: string
  /** Where a link leads, or the SHA-256 of a file. */
  readonly content: string
  /** Of a file with several names the first. */
  readonly sameAs: string
}

/** Every entry below `root`, by its path there. */
export async function listTree(
  root: string,
  { withOwners }: { readonly withOwners: boolean },
): Promise<Readonly<Record<string, TreeEntry>>> {
  const entries: Record<string, TreeEntry> = {}
  const names = new Map<number, string>()
  for (const path of await pathsBelow(root, '')) {
    const stat = await lstat(join(root, path))
    const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other'
    const sameAs = kind === 'file' && stat.nlink > 1 ? (names.get(stat.ino) ?? path) : ''
    if (sameAs !== '') names.set(stat.ino, sameAs)
    entries[path] = {
      kind,
      mode: kind === 'link' ? '' : (stat.mode & 0o7777).toString(8),
      owner: withOwners ? `${stat.uid}:${stat.gid}` : '',
      content: await contentOf(join(root, path), kind),
      sameAs,
    }
  }
  return entries
}

/** `readdir` of Node goes through links to directories, and out of the tree. */
async function pathsBelow(root: string, folder: string): Promise<readonly string[]> {
  const paths: string[] = []
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name)
    paths.push(path, ...(entry.isDirectory() ? await pathsBelow(root, path) : []))
  }
  return paths.sort()
}

async function contentOf(path: string, kind: TreeEntry['kind']): Promise<string> {
  if (kind === 'link') return readlink(path)
  return kind === 'file'
    ? createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
    : ''
}
