import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { readDeleteImageSetConfiguration } from '../../config/delete-image-set-configuration.ts'
import { requireDeletable } from '../../config/delete-unsupported.ts'
import { readConfigurationText } from '../../config/image-set-file.ts'
import { findingLine } from '../../config/invalid-config.ts'
import { ignoredParts } from '../../config/unsupported-parts.ts'
import { readTextFile } from '../../config/yaml-document.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { DeleteRequest } from '../../flows/delete-context.ts'
import { generateDeletion } from '../../flows/delete-generate.ts'
import { deleteListed } from '../../flows/delete-listed.ts'
import { formatMirrorTarget, parseMirrorTarget } from '../../mirror/destination.ts'
import { workspaceAt } from '../../mirror/workspace.ts'
import { parseDeleteImageList } from '../../openshift/delete-image-list.ts'
import { BlobStore } from '../../store/blob-store.ts'
import { collectGarbage } from '../../store/collect-garbage.ts'
import { storePaths } from '../../store/paths.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext, ExitStatus } from '../context.ts'
import { readDurationMs } from '../flag-values.ts'
import { addOcMirrorOptions, ignoredFlags } from '../oc-mirror-options.ts'
import { type AccessOptions, addAccessOptions, openRegistries } from '../registry-access.ts'
import { followDeletion } from '../render/delete-progress.ts'
import {
  type FreedDisk,
  jsonOfGenerated,
  jsonOfListed,
  renderGenerated,
  renderListed,
} from '../render/delete-result.ts'

interface Options extends AccessOptions {
  config?: string
  generate?: boolean
  workspace?: string
  deleteId?: string
  deleteSignatures?: boolean
  deleteV1Images?: boolean
  deleteYamlFile?: string
  dryRun?: boolean
  keepFor?: string[]
  gcRoot?: string
  gcGrace?: number
  forceCacheDelete?: boolean
}

/** Long enough for the manifest of a push that found its blobs here; shorter than the wait of a person for free space. */
const defaultGraceMs = 60 * 60 * 1000

const examples = `
Exit status: 0 done, also where images were kept; else the sum of 1 (nothing could be begun), 2 (a release image failed),
4 (operator), 8 (additional image), 16 (helm); 64 wrong usage; 78 a configuration or list does not load; 130 interrupted.

Examples:
  sallyport delete -c disc.yaml --generate --workspace file:///srv/mirror docker://registry.lab:8443/ocp
      writes working-dir/delete/delete-images.yaml and deletes nothing: read it
  sallyport delete --delete-yaml-file /srv/mirror/working-dir/delete/delete-images.yaml docker://registry.lab:8443/ocp
      deletes what the list names
  oc get pods,nodes,clusterversion,catalogsources,imagestreams -A -o json > cluster.json
  sallyport delete -c disc.yaml --generate --keep-for cluster.json --keep-for other-isc.yaml docker://registry.lab:8443/ocp
      never what this cluster uses, or what another configuration selects
  sallyport delete --delete-yaml-file FILE --gc-root /var/lib/sallyport docker://127.0.0.1:5000/ocp
      also frees the disk of the embedded registry on this machine`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Deletes images from a mirror in two phases: a list for you to read, and then what the list names.')
    .argument('<destination>', 'docker://HOST[:PORT]/PATH')
    .option('-c, --config <file>', 'DeleteImageSetConfiguration: what to delete (with --generate)')
    .option('--generate', 'first phase: write the list of images; delete nothing')
    .option('--delete-yaml-file <file>', 'second phase: the list to carry out; also one that oc-mirror wrote')
    .option(
      '--workspace <dir>',
      'where working-dir is: DIR or file://DIR; default: that of the list, or this directory',
    )
    .option(
      '--keep-for <file>',
      'never what is used: ImageSetConfiguration, list of images, objects of a cluster, kubeconfig:FILE; repeatable',
      (file: string, files: string[] = []) => [...files, file],
    )
    .option('--delete-id <id>', 'a suffix for the files of the first phase')
    .option('--delete-signatures', 'also signatures and other artifacts attached to the images')
    .option('--delete-v1-images', 'with --generate: under the names that oc-mirror v1 gave')
    .option('--dry-run', 'second phase: say what would be deleted, and delete nothing')
    .option('--gc-root <dir>', 'directory of the embedded registry on this machine: free its disk afterwards')
    .option(
      '--gc-grace <time>',
      'leave alone what is younger: it may belong to a push under way (default: 1h)',
      readDurationMs,
    )
    .addOption(new Option('--force-cache-delete').hideHelp())
  addOcMirrorOptions(addAccessOptions(command), 'delete')
    .addHelpText('after', examples)
    .action(async (destination: string, options: Options) => {
      const context = host.context()
      for (const line of ignored(options, context)) context.stderr(`${line}\n`)
      host.done(await run(destination, options, context))
    })
}

function ignored(options: Options, { env }: CliContext): string[] {
  const cache = '--force-cache-delete is ignored: there is no cache, so nothing else holds what is deleted'
  const lines = ignoredFlags(options, 'delete', env)
  return options.forceCacheDelete && !lines.some((line) => line.startsWith('--force-cache-delete'))
    ? [...lines, cache]
    : [...lines]
}

async function run(destination: string, options: Options, context: CliContext): Promise<ExitStatus> {
  const phase = phaseOf(options)
  const target = parseMirrorTarget(destination)
  const store = options.gcRoot === undefined ? undefined : await openStore(options.gcRoot, context)
  const workspace = workspaceAt(options.workspace ?? workspaceOfList(options.deleteYamlFile, context), context.cwd)
  const prepared = await phase.prepare(context)
  const { target: registry, close } = await openRegistries(options, context)
  try {
    await registry.ping(formatMirrorTarget(target), context.signal)
    const keepFor = options.keepFor ?? []
    const withSignatures = options.deleteSignatures === true
    const request = { target, workspace, registry, keepFor, withSignatures, signal: context.signal }
    return await prepared(request, context, store)
  } finally {
    close()
  }
}

/** Carries out a phase once its files are read: what is wrong with them is told before a registry is asked. */
type Carry = (request: DeleteRequest, context: CliContext, store: BlobStore | undefined) => Promise<ExitStatus>

function phaseOf(options: Options): { prepare: (context: CliContext) => Promise<Carry> } {
  const { generate, deleteYamlFile, config } = options
  if (generate && deleteYamlFile !== undefined) throw bothPhases()
  if (generate) {
    if (config === undefined) throw missing('--generate needs -c FILE: the DeleteImageSetConfiguration')
    if (options.dryRun) throw missing('--generate deletes nothing as it is; --dry-run belongs to the second phase')
    if (options.gcRoot)
      throw missing('--generate deletes nothing, so nothing can be freed; --gc-root belongs to the second phase')
    return { prepare: (context) => prepareGenerate(config, options, context) }
  }
  if (deleteYamlFile === undefined) throw missing('Say which phase: --generate, or --delete-yaml-file FILE')
  if (config !== undefined) throw missing('-c belongs to the first phase (--generate); the list says what is deleted')
  const generateOnly = [options.deleteId && '--delete-id', options.deleteV1Images && '--delete-v1-images'].find(Boolean)
  if (generateOnly) throw missing(`${generateOnly} belongs to the first phase (--generate)`)
  return { prepare: () => prepareListed(deleteYamlFile, options) }
}

async function prepareGenerate(file: string, options: Options, { log }: CliContext): Promise<Carry> {
  const id = options.deleteId
  if (id !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id)) {
    throw missing(`--delete-id "${id}" must be letters, digits, . _ and -: it becomes part of a file name`)
  }
  const configText = await readConfigurationText(file)
  const loaded = readDeleteImageSetConfiguration({ file, text: configText })
  requireDeletable(loaded)
  for (const told of [...loaded.findings, ...ignoredParts(loaded)]) {
    if (told.severity === 'info') log.info(findingLine(told))
    else log.warn(findingLine(told))
  }
  return async (request, context) => {
    const result = await generateDeletion({
      ...request,
      config: loaded.configuration,
      configText,
      v1Names: options.deleteV1Images === true,
      ...(id !== undefined && { id }),
    })
    const target = formatMirrorTarget(request.target)
    const keepFor = request.keepFor.map((place) => ` --keep-for ${place}`).join('')
    const next = `sallyport delete --delete-yaml-file ${result.files[0]}${keepFor} docker://${target}`
    const text = context.json ? JSON.stringify(jsonOfGenerated(result)) : renderGenerated(result, target, next)
    context.stdout(context.json ? `${text}\n` : text)
    return result.exitStatus
  }
}

async function prepareListed(file: string, options: Options): Promise<Carry> {
  const items = parseDeleteImageList(await readTextFile(file), file)
  const isDryRun = options.dryRun === true
  return async (request, context, store) => {
    if (!existsSync(request.workspace.root)) context.log.warn(noWorkspace(request.workspace.root))
    const progress = followDeletion(context)
    try {
      const result = await deleteListed({ ...request, items, isDryRun, onEvent: progress.onEvent })
      progress.stop()
      const freed = store && (await freeDisk(store, options.gcGrace ?? defaultGraceMs, isDryRun))
      const facts = { target: formatMirrorTarget(request.target), isDryRun, freed, root: options.gcRoot, file }
      context.stdout(context.json ? `${JSON.stringify(jsonOfListed(result, freed))}\n` : renderListed(result, facts))
      return result.exitStatus
    } finally {
      progress.stop()
    }
  }
}

/** A dry run has deleted nothing, so that nothing could be said about what would be freed. */
async function freeDisk(store: BlobStore, graceMs: number, isDryRun: boolean): Promise<FreedDisk | undefined> {
  if (isDryRun) return undefined
  const freed = await collectGarbage(store, { graceMs })
  const { bytesFreed: bytesLeft } = await collectGarbage(store, { graceMs: 0, dryRun: true })
  return { ...freed, bytesLeft }
}

/** A mistyped directory must not become an empty store that looks fine. */
async function openStore(root: string, { clock }: CliContext): Promise<BlobStore> {
  if (existsSync(storePaths(root).layout)) return BlobStore.open(root, clock)
  throw new KnownError('FILE_UNREADABLE', `There is no store at ${root}`, {
    hint: 'Name the directory that sallyport registry serve was given as --root; leave --gc-root out for any other registry.',
  })
}

/** `DIR` of a list at `DIR/working-dir/delete/`. */
function workspaceOfList(list: string | undefined, { cwd }: CliContext): string {
  if (list === undefined) return '.'
  const folder = dirname(resolve(cwd, list))
  const isKept = basename(folder) === 'delete' && basename(dirname(folder)) === 'working-dir'
  return isKept ? dirname(dirname(folder)) : '.'
}

function noWorkspace(root: string): string {
  return `there is no ${root}: the workspace that mirrored these images goes on believing that they are there; name it with --workspace`
}

function bothPhases(): KnownError {
  return missing('--generate and --delete-yaml-file are two phases: read the list in between')
}

function missing(message: string): KnownError {
  return new KnownError('USAGE', message, {
    hint: 'First: sallyport delete -c disc.yaml --generate DEST. Then: sallyport delete --delete-yaml-file FILE DEST.',
  })
}
