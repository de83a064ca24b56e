/** The bytes of all files of a config, before anything is written: what is missing or broken is told while the directory is as it was. */
import type { File, IgnitionConfig } from '../../ignition/config.ts'
import { type FetchResource, resourceContents } from '../../ignition/render-config.ts'

export interface LoadedFile {
  readonly file: File
  /** Undefined where the config says nothing of what is in it, and what is there stays. */
  readonly contents: Uint8Array | undefined
  readonly append: readonly Uint8Array[]
}

/** @throws KnownError IGNITION_INVALID for broken data, compression or hash; and what `fetch` throws */
export async function loadFiles(config: IgnitionConfig, fetch: FetchResource): Promise<readonly LoadedFile[]> {
  const loaded: LoadedFile[] = []
  for (const file of config.storage?.files ?? []) {
    const { path, contents } = file
    const isSaid = typeof contents?.source === 'string'
    const append: Uint8Array[] = []
    const own = isSaid ? await resourceContents(contents, path, fetch) : undefined
    for (const resource of file.append ?? []) append.push(await resourceContents(resource, path, fetch))
    loaded.push({ file, contents: own, append })
  }
  return loaded
}
