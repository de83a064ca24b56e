/** `sallyport mirror … file://DIR` */

import { loadSigningKey, loadVerifyKey } from '../../archive/format/signature.ts'
import type { BaseOptions } from '../../archive/history/archive-base.ts'
import { readReceipt } from '../../archive/history/receipt-file.ts'
import { readConfigurationText } from '../../config/image-set-file.ts'
import { KnownError } from '../../errors/known-error.ts'
import { type MirrorToDiskRequest, type MirrorToDiskResult, mirrorToDisk } from '../../flows/mirror-to-disk.ts'
import { formatMirrorTarget, parseMirrorTarget } from '../../mirror/destination.ts'
import { directoryAt, workspaceAt } from '../../mirror/workspace.ts'
import type { CliContext } from '../context.ts'
import { loadMirrorConfiguration, loadPlan, planAlone } from '../load-configuration.ts'
import { isDryRun, type MirrorOptions } from '../mirror-options.ts'
import { openServices } from '../mirror-services.ts'
import { concurrencyOf } from '../oc-mirror-options.ts'
import { openRegistries } from '../registry-access.ts'
import { archiveJson, renderArchiveDryRun, renderArchiveResult } from '../render/archive-result.ts'
import { tellFindings } from '../render/findings.ts'
import { followMirror } from '../render/mirror-progress.ts'
import { printPlan } from './print-plan.ts'

/** As oc-mirror's `archiveSize`, where the configuration says nothing. */
const defaultVolumeGiB = 500
const smallestVolumeBytes = 10 * 1024 * 1024

/** @returns the exit status */
export async function runToDisk(destination: string, options: MirrorOptions, context: CliContext): Promise<number> {
  const { cwd, clock, signal } = context
  const directory = directoryAt(destination, cwd)
  const { config, policy } = await configurationOf(options, context)
  const configuration = options.config === undefined ? '' : await readConfigurationText(options.config)
  const plan = options.plan === undefined ? undefined : await loadPlan(options.plan)
  const base = await baseOf(options)
  const signer = options.signKey === undefined ? undefined : await loadSigningKey(options.signKey)
  const workspace = workspaceAt(options.workspace ?? destination, cwd)
  const { services, close: closeServices } = await openServices(options, workspace, context)
  const { source, close } = await openRegistries(options, context)
  const concurrency = concurrencyOf(options)
  const startedAt = clock.now()
  const progress = followMirror(context, options.quiet === true)
  const request: MirrorToDiskRequest = {
    ...{ config, configuration, policy, directory, source, base, clock, signal },
    ...{ workspace, services },
    volumeBytes: volumeBytesOf(options.archiveSize, config.archiveSize),
    onEvent: progress.onEvent,
    isDryRun: isDryRun(options) || options.planOnly !== undefined,
    isByPlatform: options.dryRunManifestLists === true,
    withoutAttached: options.removeSignatures === true,
    ...(plan && { plan }),
    isRetry: options.retryFailed === true,
    ...(signer && { signer }),
    ...(concurrency !== undefined && { concurrency }),
  }
  try {
    const result = await mirrorToDisk(request)
    progress.stop()
    await print(result, { options, context, directory, elapsedMs: clock.now() - startedAt })
    return result.exitStatus
  } finally {
    progress.stop()
    close()
    closeServices()
  }
}

async function configurationOf({ config, plan, onFailure }: MirrorOptions, context: CliContext) {
  if (config !== undefined) return loadMirrorConfiguration(config, onFailure, context)
  if (plan !== undefined) return planAlone(onFailure)
  throw new KnownError('USAGE', 'Nothing says what to mirror', { hint: 'Name an ImageSetConfiguration: -c FILE.' })
}

async function baseOf({ base, receiptKey, full, since, for: target }: MirrorOptions): Promise<BaseOptions> {
  const verifier = receiptKey === undefined ? undefined : await loadVerifyKey(receiptKey)
  const receipt = base === undefined ? undefined : await readReceipt(base, verifier)
  return {
    receipt,
    isFull: full === true,
    target: target === undefined ? undefined : formatMirrorTarget(parseMirrorTarget(withTransport(target))),
    sinceMs: since === undefined ? undefined : Date.parse(since),
  }
}

function withTransport(target: string): string {
  return target.startsWith('docker://') ? target : `docker://${target}`
}

/** @param archiveSizeGiB `archiveSize` of the configuration */
export function volumeBytesOf(asked: number | undefined, archiveSizeGiB: number | undefined): number {
  const bytes = asked ?? (archiveSizeGiB ?? defaultVolumeGiB) * 1024 ** 3
  if (bytes >= smallestVolumeBytes) return Math.floor(bytes / 512) * 512
  throw new KnownError('USAGE', `Volumes of ${bytes} bytes are too small`, {
    hint: 'The smallest size is 10MiB: --archive-size 10MiB.',
  })
}

interface Printing {
  readonly options: MirrorOptions
  readonly context: CliContext
  readonly directory: string
  readonly elapsedMs: number
}

async function print(result: MirrorToDiskResult, { options, context, ...about }: Printing): Promise<void> {
  tellFindings(result.findings, context)
  if (options.planOnly !== undefined) await printPlan(result.plan, options.planOnly, context)
  else if (context.json) context.stdout(`${JSON.stringify(archiveJson(result, about.elapsedMs))}\n`)
  else context.stdout(isDryRun(options) ? renderArchiveDryRun(result, about) : renderArchiveResult(result, about))
}
