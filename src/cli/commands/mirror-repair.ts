/** `sallyport mirror --repair FILE file://DIR` */

import { loadSigningKey } from '../../archive/format/signature.ts'
import { parseRepairList } from '../../archive/repair/repair-list.ts'
import { readTextFile } from '../../config/yaml-document.ts'
import { keptMadeImages } from '../../flows/kept-made.ts'
import { writeRepair } from '../../flows/repair-archive.ts'
import { withMadeContent } from '../../mirror/made-content.ts'
import { directoryAt, workspaceAt } from '../../mirror/workspace.ts'
import type { CliContext } from '../context.ts'
import type { MirrorOptions } from '../mirror-options.ts'
import { concurrencyOf } from '../oc-mirror-options.ts'
import { openRegistries } from '../registry-access.ts'
import { followMirror } from '../render/mirror-progress.ts'
import { renderRepair, repairJson } from '../render/repair-result.ts'
import { openWeb } from '../web-access.ts'
import { volumeBytesOf } from './mirror-to-disk.ts'

/** @returns the exit status: 1 where something that was asked for could be had nowhere */
export async function runRepair(destination: string, options: MirrorOptions, context: CliContext): Promise<number> {
  const { cwd, clock, signal } = context
  const file = options.repair ?? ''
  const list = parseRepairList(await readTextFile(file), file)
  const signer = options.signKey === undefined ? undefined : await loadSigningKey(options.signKey)
  const workspace = workspaceAt(options.workspace ?? destination, cwd)
  const { source, close } = await openRegistries(options, context)
  const web = await openWeb(options, context)
  const concurrency = concurrencyOf(options)
  const startedAt = clock.now()
  const progress = followMirror(context, options.quiet === true)
  try {
    const made = await keptMadeImages(workspace, { web }, signal)
    const result = await writeRepair({
      ...{ list, workspace, signal, onEvent: progress.onEvent },
      source: withMadeContent(source, made),
      directory: directoryAt(destination, cwd),
      ...(options.archiveSize !== undefined && { volumeBytes: volumeBytesOf(options.archiveSize, undefined) }),
      ...(signer && { signer }),
      ...(concurrency !== undefined && { concurrency }),
    })
    progress.stop()
    const elapsedMs = clock.now() - startedAt
    context.stdout(
      context.json ? `${JSON.stringify(repairJson(result, elapsedMs))}\n` : renderRepair(result, elapsedMs),
    )
    return result.holes.length === 0 ? 0 : 1
  } finally {
    progress.stop()
    web.close()
    close()
  }
}
