import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { type MirrorResult, mirrorToMirror } from '../../flows/mirror-to-mirror.ts'
import { formatMirrorTarget, parseMirrorTarget } from '../../mirror/destination.ts'
import { planLines } from '../../mirror/plan-file.ts'
import { workspaceAt } from '../../mirror/workspace.ts'
import { formatReference } from '../../oci/reference.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { loadMirrorConfiguration } from '../load-configuration.ts'
import { type AccessOptions, addAccessOptions, openRegistries } from '../registry-access.ts'
import { followMirror } from '../render/mirror-progress.ts'
import { renderDryRun, renderMirrorResult } from '../render/mirror-result.ts'

interface Options extends AccessOptions {
  config: string
  workspace: string
  dryRun?: boolean
  icsp?: boolean
  planOnly?: string | true
}

const examples = `
Exit status: 0 everything is at the target; else the sum of 2 (a release image failed), 4 (operator), 8 (additional
image), 16 (helm); 1 nothing could be begun; 64 wrong usage; 78 the configuration does not load; 130 interrupted.

Examples:
  sallyport mirror -c isc.yaml --workspace file:///work docker://registry.lab:8443/ocp
  sallyport mirror -c isc.yaml --workspace file:///work docker://registry.lab:8443/ocp --dry-run
  sallyport mirror -c isc.yaml docker://127.0.0.1:5000 --dest-tls-verify=false
  sallyport verify mirror --workspace file:///work docker://registry.lab:8443/ocp`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Copies what a configuration asks for into a registry, and writes the cluster resources for it.')
    .argument('<destination>', 'docker://HOST[:PORT]/PATH')
    .requiredOption('-c, --config <file>', 'ImageSetConfiguration: what to mirror')
    .option('--workspace <dir>', 'where working-dir is kept: DIR or file://DIR', '.')
    .option('--dry-run', 'print the plan with bytes, mounts and what is there already; move nothing')
    .option('--plan-only [file]', 'print the plan as JSON, or write it to a file; move nothing')
    .option('--icsp', 'also write an ImageContentSourcePolicy, for clusters before 4.13')
  addAccessOptions(command)
    .addHelpText('after', examples)
    .action(async (destination: string, options: Options) => {
      const context = host.context()
      const result = await run(destination, options, context)
      host.done(result.exitStatus)
    })
}

async function run(destination: string, options: Options, context: CliContext): Promise<MirrorResult> {
  if (!destination.startsWith('docker://')) throw unsupportedDestination(destination)
  const target = parseMirrorTarget(destination)
  const config = await loadMirrorConfiguration(options.config, context)
  const { source, target: registry, close } = await openRegistries(options, context)
  const startedAt = context.clock.now()
  const progress = followMirror(context)
  try {
    await registry.ping(formatMirrorTarget(target), context.signal)
    const isDryRun = options.dryRun === true || options.planOnly !== undefined
    const workspace = workspaceAt(options.workspace, context.cwd)
    const { signal } = context
    const icsp = options.icsp === true
    const result = await mirrorToMirror({
      config,
      target,
      workspace,
      source,
      registry,
      signal,
      onEvent: progress.onEvent,
      isDryRun,
      icsp,
    })
    progress.stop()
    await print(result, { options, context, elapsedMs: context.clock.now() - startedAt })
    return result
  } finally {
    progress.stop()
    close()
  }
}

async function print(
  result: MirrorResult,
  { options, context, elapsedMs }: { options: Options; context: CliContext; elapsedMs: number },
): Promise<void> {
  if (typeof options.planOnly === 'string') await writeFile(options.planOnly, planLines(result.plan))
  else if (options.planOnly) for (const piece of planLines(result.plan)) context.stdout(piece)
  else if (context.json) context.stdout(`${JSON.stringify(jsonResult(result, elapsedMs))}\n`)
  else context.stdout(options.dryRun ? renderDryRun(result) : renderMirrorResult(result, elapsedMs))
}

function jsonResult(
  { plan, proven, blocked, failures, report, files, exitStatus }: MirrorResult,
  elapsedMs: number,
): object {
  return {
    target: plan.target,
    totals: { ...plan.totals, proven },
    ...(report && { report: { ...report, failures: undefined } }),
    blocked: blocked.map(({ source }) => formatReference(source)),
    failures: failures.map(({ image, error: { code, message, hint, details } }) => ({
      source: formatReference(image.source),
      destination: formatReference(image.destination),
      class: image.class,
      error: { code, message, hint, details },
    })),
    files,
    elapsedMs,
    exitStatus,
  }
}

function unsupportedDestination(destination: string): KnownError {
  const isArchive = destination.startsWith('file://')
  return new KnownError('USAGE', `"${destination}" is no destination that this version can write`, {
    hint: isArchive
      ? 'Mirroring to disk is not carried out by this version; name a registry: docker://HOST[:PORT]/PATH.'
      : 'Write the destination as docker://HOST[:PORT]/PATH, for example docker://registry.lab:8443/ocp.',
  })
}
