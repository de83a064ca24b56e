import { type Command, Option } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { formatReference } from '../../oci/reference.ts'
import { bootstrapImages } from '../../release/bootstrap-images.ts'
import { type ContentsOptions, readReleaseContents } from '../../release/payload-contents.ts'
import { type ReleaseContents, sizesOf } from '../../release/release-contents.ts'
import { diffReleases } from '../../release/release-diff.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { addReleaseOptions, openRelease, type ReleaseOptions, releaseArgumentHelp } from '../release-access.ts'
import { releaseDiffDocument, renderReleaseDiff } from '../render/release-diff.ts'
import { type ReleaseSelection, releaseDocument, renderRelease } from '../render/release-info.ts'

interface InfoOptions extends ReleaseOptions {
  bootstrap?: boolean
  components?: boolean
  pullspecs?: boolean
  size?: boolean
  image?: string
  imageFor?: string
  platform?: string
  diff?: string
}

const details = `
Nothing is unpacked and nothing is kept: the release image is read where it lies, no further than the layer that names its
components, and proven against its digest. Sizes come from the manifests of the components, which are looked for where
registries.conf leads to and, when the release was read from a mirror, beside it.
Exit status: 0; 1 where a component is missing, or the release cannot be read.

Examples:
  sallyport release info 4.18.9
  sallyport release info registry.lab:8443/ocp/openshift/release-images:4.18.9-x86_64 --bootstrap --platform vsphere
  sallyport release info --from /media/usb 4.18.9 --size
  sallyport release info 4.18.9 --image machine-config-operator
  sallyport release info 4.18.9 --diff 4.18.12
      what the upgrade changes, and how many bytes have to be carried for it`

export function defineInfo(command: Command, host: CommandHost): void {
  command
    .summary('what a release is made of; what an upgrade changes, and what it costs to carry')
    .description('Tells version, upgrade edges and components of a release, at a registry or in an archive.')
    .argument('[release]', releaseArgumentHelp)
    .addOption(
      new Option('--bootstrap', 'only the images that the bootstrap host itself pulls').conflicts('components'),
    )
    .option('--platform <name>', 'with what it pulls there: vsphere, baremetal, nutanix, openstack, aws, …')
    .option('--components', 'only the table of components')
    .addOption(new Option('--pullspecs', 'whole pullspecs in the table').conflicts('size'))
    .option('--size', 'layers, size, and what no other image has, the largest first')
    .addOption(new Option('--image <name>', 'print the pullspec of this component, and nothing else').conflicts('diff'))
    // As `oc adm release info` has it.
    .addOption(new Option('--image-for <name>').conflicts('diff').hideHelp())
    .option('--diff <other>', 'what the upgrade to this other release changes')
  addReleaseOptions(command)
    .addHelpText('after', details)
    .action(async (argument: string | undefined, options: InfoOptions) => {
      const context = host.context()
      const name = options.image ?? options.imageFor
      if (name !== undefined) host.done(await printPullspec(argument, name, { options, context }))
      else if (options.diff !== undefined) host.done(await printDiff(argument, options.diff, { options, context }))
      else host.done(await printInfo(argument, { options, context }))
    })
}

interface Asked {
  readonly options: InfoOptions
  readonly context: CliContext
}

interface Looked {
  readonly contents: ReleaseContents
  readonly origin: string
}

async function look(
  argument: string | undefined,
  withImages: ContentsOptions['withImages'],
  { options, context }: Asked,
): Promise<Looked> {
  const { source, reference, origin, isMissing, close } = await openRelease(argument, options, context)
  try {
    const { signal } = context
    const { arch: architecture } = options
    const contents = await readReleaseContents(reference, { source, architecture, signal, withImages, isMissing })
    return { contents, origin }
  } finally {
    await close()
  }
}

async function printInfo(argument: string | undefined, asked: Asked): Promise<number> {
  const { options, context } = asked
  const { contents, origin } = await look(argument, imagesFor(asked), asked)
  const sizes = options.pullspecs ? undefined : sizesOf(contents)
  const bootstrap = bootstrapImages(contents.version, options)
  const view = { contents, sizes, bootstrap, origin }
  context.stdout(
    context.json ? `${JSON.stringify(releaseDocument(view))}\n` : renderRelease(view, selectionOf(options)),
  )
  return hasProblem(contents) ? 1 : 0
}

/** Where only those of the bootstrap host are printed, only they are asked for. */
function imagesFor({ options, context }: Asked): ContentsOptions['withImages'] {
  if (options.pullspecs) return false
  if (!options.bootstrap || options.size || context.json) return true
  return (name, version) => bootstrapImages(version, options).names.includes(name)
}

function selectionOf({ bootstrap, components, pullspecs, size }: InfoOptions): ReleaseSelection {
  const what = bootstrap ? 'bootstrap' : components ? 'components' : 'everything'
  return { what, columns: pullspecs ? 'pullspecs' : size ? 'sizes' : 'digests' }
}

async function printPullspec(argument: string | undefined, name: string, asked: Asked): Promise<number> {
  const { contents } = await look(argument, false, asked)
  const { stdout, json } = asked.context
  const component = contents.components.find((one) => one.name === name)
  if (!component) {
    const known = contents.components.map((one) => one.name)
    throw new KnownError('USAGE', `Release ${contents.version} has no component "${name}"`, {
      details: { component: name },
      hint: `Name one of its ${known.length} components: sallyport release info … --components lists them.`,
    })
  }
  const pullspec = formatReference(component.reference)
  stdout(json ? `${JSON.stringify({ name, pullspec })}\n` : `${pullspec}\n`)
  return 0
}

async function printDiff(argument: string | undefined, other: string, asked: Asked): Promise<number> {
  const { stdout, json } = asked.context
  const { contents: first } = await look(argument, true, asked)
  const { contents: second } = await look(other, true, { ...asked, options: optionsOfOther(other, asked.options) })
  const view = { one: first, other: second, diff: diffReleases(first, second) }
  stdout(json ? `${JSON.stringify(releaseDiffDocument(view))}\n` : renderReleaseDiff(view))
  return hasProblem(first) || hasProblem(second) ? 1 : 0
}

/** A version alone is looked for where the first release is; anything else says for itself where it is. */
function optionsOfOther(other: string, { release: _, from, ...options }: InfoOptions): InfoOptions {
  return from !== undefined && /^[\w.+-]+$/.test(other) ? { ...options, from } : options
}

function hasProblem({ components }: ReleaseContents): boolean {
  return components.some(({ problem }) => problem !== undefined)
}
