/** Where the files of `sallyport files` are: a mirror, or archives. */

import type { FileHolder } from '../flows/carried-files.ts'
import { filesAt, filesNamed } from '../flows/files-at-registry.ts'
import { filesInArchives } from '../flows/files-in-archives.ts'
import { parseMirrorTarget } from '../mirror/destination.ts'
import { archivePathHelp, archivesAt } from './archive-paths.ts'
import type { CliContext } from './context.ts'
import { type AccessOptions, openRegistries } from './registry-access.ts'

/** For `--help`. */
export const fileLocationHelp = `docker://HOST[:PORT]/PATH of a mirror; or ${archivePathHelp}`

/**
 * @param wanted names of files; without them, every file: a registry may refuse to list them
 * @throws KnownError USAGE, FILE_ABSENT, and what opening archives and talking to registries throws
 */
export async function openFiles(
  location: string,
  { wanted, options }: { readonly wanted?: readonly string[]; readonly options: AccessOptions },
  context: CliContext,
): Promise<FileHolder> {
  const { cwd, signal } = context
  if (!location.startsWith('docker://')) return filesInArchives(await archivesAt(location, cwd), signal)
  const target = parseMirrorTarget(location)
  const { target: registry, close } = await openRegistries(options, context)
  try {
    const access = { registry, signal }
    const found = wanted
      ? (await Promise.all(wanted.map((name) => filesNamed(target, name, access)))).flat()
      : await filesAt(target, access)
    const files = [...new Map(found.map((file) => [file.place, file])).values()]
    return { files, problems: [], close: async () => close() }
  } catch (error) {
    close()
    throw error
  }
}
