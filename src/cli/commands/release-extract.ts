import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import type { Finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { directoryAt } from '../../mirror/workspace.ts'
import { parseReference } from '../../oci/reference.ts'
import { goArchitecture } from '../../openshift/release-tag.ts'
import { checkCloud } from '../../release/credentials-requests.ts'
import { chooseBootImages, coreosName, readBootImages } from '../../release/extract-boot-images.ts'
import { extractManifests } from '../../release/extract-manifest-files.ts'
import { readPayloadFolder } from '../../release/extract-payload.ts'
import { placeFiles } from '../../release/extract-place.ts'
import { extractReleaseTools } from '../../release/extract-release-tools.ts'
import type { ToolOs, ToolPlatform } from '../../release/tools.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { addReleaseOptions, openRelease, type ReleaseOptions, releaseArgumentHelp } from '../release-access.ts'
import { followReading } from '../render/reading-progress.ts'
import { renderBootImages, renderManifests, renderTools } from '../render/release-extract.ts'

interface ExtractOptions extends ReleaseOptions {
  to?: string
  command?: readonly string[]
  commandOs?: ToolPlatform | 'all'
  tools?: boolean
  releaseImage?: string
  run: boolean
  force?: boolean
  credentialsRequests?: boolean
  manifests?: boolean
  included?: boolean
  installConfig?: string
  cloud?: string
  file?: string
  stream?: boolean
  bootImages?: boolean
  platform?: string
}

const details = `
Without one of --tools, --command, --credentials-requests, --manifests, --file, --stream and --boot-images: openshift-install,
oc and ccoctl for this machine. Tools are found in the layers of the images of the release, of which none below the one that
holds them is read; they are told their release as oc does, signed again where they are for a Mac, and run once to see
what they say of themselves. With --command-os '*' each platform has a folder: linux-amd64/oc, mac-arm64/oc,
windows-amd64/oc.exe. A file that is there already is not replaced, unless it is the same or with --force.

Exit status: 0; 1 where a tool is missing or says something else of itself than it should.

Examples:
  sallyport release extract 4.18.9 --to ~/bin
  sallyport release extract --from /media/usb 4.18.9 --to ~/bin --release-image registry.lab:8443/ocp/openshift/release-images
  sallyport release extract 4.18.9 --command oc --command-os mac/arm64
  sallyport release extract 4.18.9 --credentials-requests --included --install-config install-config.yaml --to creds
  sallyport release extract 4.18.9 --boot-images --platform vmware`

const otherModes = ['tools', 'credentialsRequests', 'manifests', 'file', 'stream', 'bootImages']

export function defineExtract(command: Command, host: CommandHost): void {
  command
    .summary('tools, manifests, CredentialsRequests and boot images of a release')
    .description(
      'Takes openshift-install, oc, ccoctl and other things out of a release, at a registry or in an archive.',
    )
    .argument('[release]', releaseArgumentHelp)
    .option('--to <dir>', 'where files go (default: here; --file: standard output)')
    .addOption(
      new Option(
        '--command <name>',
        'this tool; may be said several times: openshift-install, oc, kubectl, ccoctl, openshift-install-fips, oc.rhel8, …',
      )
        .argParser(collectNames)
        .conflicts(otherModes),
    )
    .addOption(mode('--tools', 'all tools that the release has'))
    .option(
      '--command-os <os[/arch]>',
      "tools for linux, mac or windows, with /amd64, /arm64, …; '*' for all",
      readPlatform,
    )
    .option('--release-image <image>', 'what openshift-install installs: the release at a mirror, HOST/PATH')
    .option('--no-run', 'do not run the tools to see what they say of themselves')
    .option('--force', 'replace files that are there')
    .addOption(mode('--credentials-requests', 'what the release asks of a cloud, for ccoctl'))
    .addOption(mode('--manifests', 'all manifests'))
    .option('--included', 'of the manifests only those that the cluster gets')
    .option('--install-config <file>', 'what the cluster is to be, for --included')
    .option('--cloud <name>', 'only CredentialsRequests for aws, azure, gcp, vsphere, nutanix, …')
    .addOption(mode('--file <name>', 'one file of release-manifests/'))
    .addOption(mode('--stream', 'print the stream metadata of CoreOS that the release boots from'))
    .addOption(mode('--boot-images', 'list the boot images to carry, with the stanza that carries them'))
    .option('--platform <name>', 'of the boot images those for vmware, metal, aws, openstack, nutanix, …')
  addReleaseOptions(command)
    .addHelpText('after', details)
    .action(async (argument: string | undefined, options: ExtractOptions) => {
      checkOptions(options)
      host.done(await extract(argument, options, host.context()))
    })
}

/** One of the things that can be taken out: only one at a time. */
function mode(flags: string, description: string): Option {
  const option = new Option(flags, description)
  return option.conflicts(otherModes.filter((name) => name !== option.attributeName()))
}

function checkOptions(options: ExtractOptions): void {
  const { included, installConfig, cloud, credentialsRequests, manifests, platform, bootImages } = options
  const need = (isSaid: boolean, flag: string, others: string) => {
    if (isSaid) throw new KnownError('USAGE', `${flag} only has a meaning with ${others}`)
  }
  need(included === true && !credentialsRequests && !manifests, '--included', '--credentials-requests or --manifests')
  need(installConfig !== undefined && !included, '--install-config', '--included')
  need(cloud !== undefined && !credentialsRequests, '--cloud', '--credentials-requests')
  need(platform !== undefined && !bootImages, '--platform', '--boot-images')
  if (cloud !== undefined) checkCloud(cloud)
}

type Opened = Awaited<ReturnType<typeof openRelease>>

async function extract(argument: string | undefined, options: ExtractOptions, context: CliContext): Promise<number> {
  const opened = await openRelease(argument, options, context)
  try {
    if (options.credentialsRequests || options.manifests) return await extractObjects(opened, options, context)
    if (options.file !== undefined) return await extractFile(options.file, opened, { options, context })
    if (options.stream || options.bootImages) return await showBootImages(opened, options, context)
    return await extractCommands(opened, options, context)
  } finally {
    await opened.close()
  }
}

async function extractCommands(opened: Opened, options: ExtractOptions, context: CliContext): Promise<number> {
  const { signal, clock } = context
  const machine = thisMachine()
  const platform = options.commandOs ?? machine
  if (!platform) {
    throw new KnownError('USAGE', `No release has tools for ${process.platform}/${process.arch}`, {
      hint: 'Say for which machine they are: --command-os linux/amd64.',
    })
  }
  const commands = options.tools ? 'all' : (options.command ?? 'usual')
  const progress = followReading(context)
  const report = await extractReleaseTools({
    source: opened.source,
    release: opened.reference,
    commands,
    platform,
    architecture: options.arch,
    releaseImage: options.releaseImage === undefined ? undefined : parseReference(options.releaseImage),
    directory: directoryFor(options, context),
    isForced: options.force === true,
    ...(options.run && { check: { clock, machine, signal } }),
    onBytes: progress.onBytes,
    signal,
  }).finally(progress.stop)
  context.stdout(context.json ? `${JSON.stringify(report)}\n` : renderTools(report))
  return statusOf(report.findings)
}

async function extractObjects(opened: Opened, options: ExtractOptions, context: CliContext): Promise<number> {
  const { installConfig: file } = options
  const report = await extractManifests({
    source: opened.source,
    release: opened.reference,
    what: options.manifests ? 'manifests' : 'credentials-requests',
    architecture: options.arch,
    isIncluded: options.included === true,
    installConfig: file === undefined ? undefined : { file, text: await readTextFile(directoryAt(file, context.cwd)) },
    cloud: options.cloud,
    directory: directoryFor(options, context),
    isForced: options.force === true,
    signal: context.signal,
  })
  context.stdout(context.json ? `${JSON.stringify(report)}\n` : renderManifests(report))
  return statusOf(report.findings)
}

interface Asked {
  readonly options: ExtractOptions
  readonly context: CliContext
}

async function extractFile(name: string, opened: Opened, { options, context }: Asked): Promise<number> {
  const { source, reference } = opened
  const { files } = await readPayloadFolder(reference, { source, architecture: options.arch, signal: context.signal })
  const bytes = files.get(name)
  if (!bytes) {
    throw new KnownError('USAGE', `The release has no file ${name} in release-manifests/`, {
      hint: `It has ${files.size} files: --manifests --to DIR writes all.`,
    })
  }
  if (options.to === undefined) {
    context.stdout(
      context.json ? `${JSON.stringify({ name, text: bytes.toString('utf8') })}\n` : bytes.toString('utf8'),
    )
    return 0
  }
  const file = join(directoryFor(options, context), name)
  await placeFiles(new Map([[file, bytes]]), { isForced: options.force === true })
  context.stdout(context.json ? `${JSON.stringify({ name, file })}\n` : `${file}\n`)
  return 0
}

async function showBootImages(opened: Opened, options: ExtractOptions, context: CliContext): Promise<number> {
  const { source, reference } = opened
  const release = await readBootImages(reference, { source, architecture: options.arch, signal: context.signal })
  if (options.stream) {
    context.stdout(release.text.endsWith('\n') ? release.text : `${release.text}\n`)
    return 0
  }
  const architecture = options.arch === undefined ? release.architecture : coreosName(options.arch)
  const images = chooseBootImages(release, { architecture, platform: options.platform })
  context.stdout(context.json ? bootImagesDocument(release.version, images) : renderBootImages(release, images))
  return 0
}

function bootImagesDocument(version: string, images: ReturnType<typeof chooseBootImages>): string {
  const plain = images.map((image) =>
    image.kind === 'regions' ? { ...image, regions: Object.fromEntries(image.regions) } : image,
  )
  return `${JSON.stringify({ version, images: plain })}\n`
}

function directoryFor({ to }: ExtractOptions, { cwd }: CliContext): string {
  return directoryAt(to ?? '.', cwd)
}

function statusOf(findings: readonly Finding[]): number {
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

const osNames: Readonly<Record<string, ToolOs>> = {
  linux: 'linux',
  mac: 'mac',
  darwin: 'mac',
  windows: 'windows',
  win32: 'windows',
}
const nodeArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ppc64: 'ppc64le' }

function thisMachine(): ToolPlatform | undefined {
  const os = osNames[process.platform]
  return os && { os, architecture: nodeArchitectures[process.arch] ?? process.arch }
}

function collectNames(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').filter((name) => name !== '')]
}

/** As oc reads it: an operating system alone is for amd64. */
function readPlatform(text: string): ToolPlatform | 'all' {
  if (text === '*') return 'all'
  const [name = '', architecture = 'amd64', ...more] = text.split('/')
  const os = osNames[name]
  if (os && more.length === 0) return { os, architecture: goArchitecture(architecture) }
  throw new KnownError('USAGE', `"${text}" is no platform`, {
    hint: "Write linux, mac or windows, with /amd64, /arm64, /ppc64le or /s390x behind it, or '*' for all.",
  })
}
