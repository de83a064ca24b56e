/** `catalog explain`: why each bundle of a package is mirrored or not. */
import type { Command } from 'commander'
import { explainRequest } from '../../catalog/explain-request.ts'
import { readCatalog } from '../../catalog/read-catalog.ts'
import { writtenVersion } from '../../catalog/select-versions.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { CatalogLocation } from '../../flows/open-catalog.ts'
import { askedOperators } from '../asked-operators.ts'
import { catalogHelp, catalogLocation, openNamedCatalog } from '../catalog-access.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readMinor } from '../minor-version.ts'
import { type AccessOptions, addAccessOptions } from '../registry-access.ts'
import { type ExplanationView, renderExplanation } from '../render/catalog-explain.ts'

interface ExplainOptions extends AccessOptions {
  catalog?: string
  config?: string
  version?: string
  installed?: string
  channel?: string
  all?: boolean
}

const details = `
Draws the channels of the package, and says of each bundle why it is mirrored or left out: by the configuration or, without
one, as if nothing but the package was named. Also what it needs in the cluster, on which OpenShift it runs, what its
maintainers deprecate and, with --installed, through which bundles an update leads. Nothing is mirrored.
Exit status: 0; 1 where the package is not there, or what is asked for cannot be selected.

Examples:
  sallyport catalog explain rhacs-operator --catalog redhat-operator-index --version 4.18
  sallyport catalog explain rhacs-operator -c imageset-config.yaml
  sallyport catalog explain rhacs-operator -c imageset-config.yaml --installed 4.5.2
  sallyport catalog explain rhacs-operator --catalog oci:///var/tmp/catalog --channel stable --all`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('why each bundle of a package is mirrored or not, with its channels drawn')
    .description('Explains what is mirrored of an operator, and why.')
    .argument('<package>', 'the package: sallyport list operators --catalog CATALOG names them')
    .option('--catalog <catalog>', `${catalogHelp}; default: the one in --config that asks for the package`)
    .option('-c, --config <file>', 'the ImageSetConfiguration that asks for it')
    .option(
      '--version <version>',
      'a minor version of OpenShift to hold its limits against: 4.18; default: of the configuration, or of the tag',
      readMinor,
    )
    .option('--installed <version>', 'a version of the operator that a cluster has', readVersion)
    .option('--channel <name>', 'only this channel')
    .option('--all', 'cut nothing')
  addAccessOptions(command)
    .addHelpText('after', details)
    .action(async (name: string, options: ExplainOptions) => {
      host.done(await explain(name, options, host.context()))
    })
}

async function explain(name: string, options: ExplainOptions, context: CliContext): Promise<number> {
  const { cwd, signal, json, stdout } = context
  const asked =
    options.config === undefined
      ? undefined
      : await askedOperators(options.config, { catalog: options.catalog, package: name, cwd })
  const named = options.catalog ?? asked?.entry.catalog
  if (named === undefined)
    throw new KnownError('USAGE', 'No catalog is named', {
      hint: 'Name one with --catalog, or a configuration with --config.',
    })
  const location = catalogLocation(named, { version: options.version, cwd })
  const opened = await openNamedCatalog(location, options, context)
  try {
    const catalog = await readCatalog(opened.files, { signal })
    const releases = options.version === undefined ? (asked?.releases ?? minorOf(location)) : [options.version]
    const { installed } = options
    const request = asked?.entry ?? { packages: [{ name, ...(installed !== undefined && { installed }) }] }
    const explained = explainRequest(catalog, name, { catalogName: opened.name, request, releases, installed })
    const view = { ...explained, catalog: opened.name, place: asked?.place, releases, installed }
    checkChannel(view, options.channel)
    const depth = { channel: options.channel, isAll: options.all === true }
    stdout(json ? `${JSON.stringify(documentOf(view, opened.image?.digest))}\n` : renderExplanation(view, depth))
    return view.explanation.problem ? 1 : 0
  } finally {
    await opened.close()
  }
}

/** The catalogs of OpenShift are tagged with the version that they are for. */
function minorOf(location: CatalogLocation): string[] {
  const tag = location.kind === 'registry' ? location.reference.tag : undefined
  const minor = /^v(\d+\.\d+)$/.exec(tag ?? '')?.[1]
  return minor === undefined ? [] : [minor]
}

function checkChannel({ explanation }: ExplanationView, channel: string | undefined): void {
  const names = explanation.channels.map(({ name }) => name)
  if (channel === undefined || names.includes(channel)) return
  throw new KnownError(
    'CATALOG_CHANNEL_UNKNOWN',
    `Package "${explanation.package}" has no channel "${channel}"; it has ${names.join(', ')}`,
    {
      details: { package: explanation.package, channel },
    },
  )
}

/** What `--json` prints. */
function documentOf({ explanation, ...view }: ExplanationView, digest: string | undefined): object {
  return { ...view, ...(digest !== undefined && { digest }), ...explanation }
}

/** @throws KnownError USAGE */
function readVersion(text: string): string {
  if (writtenVersion(text)) return text
  throw new KnownError('USAGE', `"${text}" is no version of an operator`, { hint: 'Write it as 1.2.3.' })
}
