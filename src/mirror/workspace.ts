/**
 * The directory that a mirror works in, laid out as oc-mirror v2 has it where both write the same thing.
 *
 *     <workspace>/working-dir/
 *       cluster-resources/           idms-oc-mirror.yaml, itms-oc-mirror.yaml, …
 *       dry-run/mapping.txt
 *       hold-release/ocp-release/<tag>/release-manifests/image-references
 *       sallyport/v1/                our own state; safe to delete, costs time only
 *         manifests/<alg>/<hex>      manifests read before, proven again when they are read
 *         blobs/<alg>/<hex>          the payload layer, kept from its reading to its transfer
 *         plan.json                  the last plan
 *         wanted.json                what the last run was asked for
 *         done.json                  what is known to be at which target
 *         failed.json                what the last run could not bring, for --retry-failed
 *         uploads.ndjson             uploads that were under way
 *         archives/, loaded/         archives that were written and loaded (src/archive/history/archive-history.ts)
 *         failed.json                what the last run could not bring
 *         lock                       held by the process at work
 */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ifThere } from '../store/presence.ts'
import { writeStaged } from '../store/staged-write.ts'

export interface Workspace {
  /** `<workspace>/working-dir` */
  readonly root: string
  readonly clusterResources: string
  readonly dryRun: string
  readonly state: string
}

/**
 * @param location a path, or `file://PATH` as oc-mirror writes it; relative to `cwd`
 * @throws KnownError USAGE
 */
export function workspaceAt(location: string, cwd: string): Workspace {
  const root = join(directoryAt(location, cwd), 'working-dir')
  const state = join(root, 'sallyport', 'v1')
  return {
    root,
    clusterResources: join(root, 'cluster-resources'),
    dryRun: join(root, 'dry-run'),
    state,
  }
}

/** @param location a path, or `file://PATH`; relative to `cwd` */
export function directoryAt(location: string, cwd: string): string {
  return resolve(cwd, pathOf(location))
}

function pathOf(location: string): string {
  if (!location.startsWith('file://')) return location
  // oc-mirror takes file://relative/path literally; a URL would read "relative" as a host.
  return location.startsWith('file:///') ? fileURLToPath(location) : location.slice('file://'.length)
}

/** The text of a file, or undefined where there is none. */
export function readIfPresent(path: string): Promise<string | undefined> {
  return ifThere(readFile(path, 'utf8'))
}

/**
 * Writes a file so that a reader sees the old or the new content and nothing between, also after a power cut.
 *
 * @throws KnownError DISK_FULL
 */
export async function writeWhole(path: string, content: string | Uint8Array | Iterable<string>): Promise<void> {
  await writeStaged(path, async (file) => {
    await file.writeFile(content)
    await file.sync()
    // The umask of the caller must not decide who may read a cluster resource.
    await file.chmod(0o644)
  })
}

/** Writes only where the content differs, so that a run with nothing to do touches nothing. */
export async function writeIfChanged(path: string, content: string): Promise<boolean> {
  if ((await readIfPresent(path)) === content) return false
  await writeWhole(path, content)
  return true
}
