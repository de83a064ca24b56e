/** `sallyport mirror … docker://…`: from registries, or from archives. */

import { archiveMessage, loadVerifyKey, verifySignature } from '../../archive/format/signature.ts'
import type { Archive } from '../../archive/read/archive.ts'
import type { Finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { type ArchiveLoad, diskToMirror } from '../../flows/disk-to-mirror.ts'
import { type MirrorRequest, type MirrorResult, mirrorToMirror } from '../../flows/mirror-to-mirror.ts'
import { formatMirrorTarget, type MirrorTarget, parseMirrorTarget } from '../../mirror/destination.ts'
import { withMaxNestedPaths } from '../../mirror/nested-paths.ts'
import { directoryAt, workspaceAt } from '../../mirror/workspace.ts'
import type { CliContext } from '../context.ts'
import { type LoadedConfiguration, loadMirrorConfiguration, loadPlan, planAlone } from '../load-configuration.ts'
import { isDryRun, type MirrorOptions } from '../mirror-options.ts'
import { openServices } from '../mirror-services.ts'
import { concurrencyOf } from '../oc-mirror-options.ts'
import { openRegistries, type Registries } from '../registry-access.ts'
import { renderLoads } from '../render/archive-load.ts'
import { tellFindings } from '../render/findings.ts'
import { followMirror } from '../render/mirror-progress.ts'
import { mirrorJson, renderDryRun, renderMirrorResult } from '../render/mirror-result.ts'
import { printPlan } from './print-plan.ts'

/** @returns the exit status */
export async function runToRegistry(destination: string, options: MirrorOptions, context: CliContext): Promise<number> {
  const target = withMaxNestedPaths(parseMirrorTarget(destination), options.maxNestedPaths ?? 0)
  const loaded = await configurationOf(options, context)
  const common = commonRequest({ target, options, context })
  const { services, close } = await openServices(options, common.workspace, context)
  const registries = await openRegistries(options, context)
  const startedAt = context.clock.now()
  const progress = followMirror(context, options.quiet === true)
  try {
    await registries.target.ping(formatMirrorTarget(target), context.signal)
    const plan = options.plan === undefined ? undefined : await loadPlan(options.plan)
    const own = { services, onEvent: progress.onEvent, ...(plan && { plan }) }
    const loads = await carryOut({ common: { ...common, ...own }, loaded, registries, options, context })
    progress.stop()
    await print(loads, { options, context, elapsedMs: context.clock.now() - startedAt })
    return loads.at(-1)?.result.exitStatus ?? 0
  } finally {
    progress.stop()
    registries.close()
    close()
  }
}

async function configurationOf(
  { config, from, plan, onFailure }: MirrorOptions,
  context: CliContext,
): Promise<LoadedConfiguration | undefined> {
  if (config !== undefined) return loadMirrorConfiguration(config, onFailure, context)
  if (plan !== undefined) return planAlone(onFailure)
  if (from !== undefined) return undefined
  throw new KnownError('USAGE', 'Nothing says what to mirror', {
    hint: 'Name an ImageSetConfiguration: -c FILE; or a directory with archives: --from file://DIR.',
  })
}

type Common = Omit<MirrorRequest, 'config' | 'source' | 'registry' | 'onEvent'>

function commonRequest({
  target,
  options,
  context,
}: {
  target: MirrorTarget
  options: MirrorOptions
  context: CliContext
}): Common {
  const concurrency = concurrencyOf(options)
  return {
    target,
    workspace: workspaceAt(options.workspace ?? options.from ?? '.', context.cwd),
    signal: context.signal,
    isDryRun: isDryRun(options) || options.planOnly !== undefined,
    isByPlatform: options.dryRunManifestLists === true,
    withoutAttached: options.removeSignatures === true,
    isRetry: options.retryFailed === true,
    icsp: options.icsp === true,
    ...(concurrency !== undefined && { concurrency }),
  }
}

interface Work {
  readonly common: Common & Pick<MirrorRequest, 'onEvent'>
  readonly loaded: LoadedConfiguration | undefined
  readonly registries: Registries
  readonly options: MirrorOptions
  readonly context: CliContext
}

async function carryOut({ common, loaded, registries, options, context }: Work): Promise<readonly ArchiveLoad[]> {
  const { source, target: registry } = registries
  const request = { ...common, ...loaded, registry }
  if (options.from !== undefined) {
    return diskToMirror({
      ...request,
      directory: directoryAt(options.from, context.cwd),
      acceptOrder: options.acceptOrder === true,
      inspect: await inspectorOf(options.verifyKey),
      clock: context.clock,
    })
  }
  if (!loaded) return []
  return [{ findings: [], result: await mirrorToMirror({ ...request, config: loaded.config, source }) }]
}

async function inspectorOf(keyFile: string | undefined): Promise<(archive: Archive) => Promise<void>> {
  const verifier = keyFile === undefined ? undefined : await loadVerifyKey(keyFile)
  return async ({ end, found }) => {
    if (!verifier) return
    const text = end ? archiveMessage(end) : ''
    verifySignature(verifier, { text, signature: end?.signature, what: `the archive ${found.stem}` })
  }
}

interface Printing {
  readonly options: MirrorOptions
  readonly context: CliContext
  readonly elapsedMs: number
}

async function print(loads: readonly ArchiveLoad[], { options, context, elapsedMs }: Printing): Promise<void> {
  const results = loads.map(({ result }) => result)
  tellFindings(
    results.flatMap((result) => result.findings),
    context,
  )
  if (options.planOnly !== undefined) {
    for (const { plan } of results) await printPlan(plan, options.planOnly, context)
  } else if (context.json) context.stdout(`${JSON.stringify(jsonOf(loads, elapsedMs))}\n`)
  else if (options.from !== undefined) context.stdout(renderLoads(loads, { isDryRun: isDryRun(options), elapsedMs }))
  else context.stdout(results.map((result) => render(result, options, elapsedMs)).join('\n'))
}

function render(result: MirrorResult, options: MirrorOptions, elapsedMs: number): string {
  return isDryRun(options) ? renderDryRun(result) : renderMirrorResult(result, elapsedMs)
}

/** One result as it is; several, as archives are loaded one after the other, in a list. */
function jsonOf(loads: readonly ArchiveLoad[], elapsedMs: number): object {
  const all = loads.map(({ archive, findings: ofArchive, result }) => ({
    ...(archive && { archive: { id: archive.id, sequence: archive.record.sequence } }),
    ...findingsJson([...ofArchive, ...result.findings]),
    ...mirrorJson(result, elapsedMs),
  }))
  return all.length === 1 ? (all[0] ?? {}) : { loads: all }
}

function findingsJson(findings: readonly Finding[]): { findings?: readonly Finding[] } {
  return findings.length > 0 ? { findings } : {}
}
