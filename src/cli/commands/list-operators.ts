/** `list operators`, with the flags and the columns of oc-mirror. */
import type { Command } from 'commander'
import { listChannels, listPackages, listVersions } from '../../catalog/list-catalog.ts'
import type { Catalog } from '../../catalog/meta.ts'
import { readCatalog } from '../../catalog/read-catalog.ts'
import { KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import { parseReference } from '../../oci/reference.ts'
import { catalogHelp, catalogLocation, catalogTag, openNamedCatalog, wellKnownCatalogs } from '../catalog-access.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readMinor } from '../minor-version.ts'
import { type AccessOptions, addAccessOptions, openRegistries } from '../registry-access.ts'
import { renderError } from '../render/error.ts'
import {
  catalogsDocument,
  type ListedCatalog,
  renderCatalogs,
  renderChannels,
  renderPackages,
  renderVersions,
} from '../render/operator-list.ts'

interface OperatorsOptions extends AccessOptions {
  catalogs?: boolean
  version?: string
  catalog?: string
  package?: string
  channel?: string
}

const examples = `
A catalog is read where it lies, as a stream: nothing is unpacked and nothing is kept. Credentials, CAs and registries.conf
count as for sallyport mirror. One of the catalogs of OpenShift can be named by its last part, with --version for the tag.
Exit status: 0; 1 where a catalog cannot be read, or there is none for that version.

Examples:
  sallyport list operators --catalogs --version 4.18
  sallyport list operators --catalog registry.redhat.io/redhat/redhat-operator-index:v4.18
  sallyport list operators --catalog redhat-operator-index --version 4.18 --package rhacs-operator
  sallyport list operators --catalog oci:///var/tmp/catalog --package rhacs-operator --channel stable --json
  sallyport list operators --catalog ./configs`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('catalogs, their packages, the channels of a package, the versions of a channel')
    .description('Lists the operator catalogs of a version of OpenShift, or what one catalog has to offer.')
    .option('--catalogs', 'the catalogs that there are for --version')
    .option('--version <version>', 'a minor version of OpenShift: 4.18', readMinor)
    .option('--catalog <catalog>', catalogHelp)
    .option('--package <name>', 'the channels of this package of --catalog')
    .option('--channel <name>', 'the versions in this channel of --package')
  addAccessOptions(command)
    .addHelpText('after', examples)
    .action(async (options: OperatorsOptions) => {
      const context = host.context()
      checkOptions(options)
      const { catalog } = options
      host.done(catalog === undefined ? await printCatalogs(options, context) : await print(catalog, options, context))
    })
}

/** @throws KnownError USAGE */
function checkOptions(options: OperatorsOptions): void {
  const { catalogs, version, catalog, channel } = options
  if (catalogs && catalog !== undefined) throw usage('--catalogs and --catalog ask for different things')
  if (options.package !== undefined && catalog === undefined) throw usage('--package needs a --catalog')
  if (channel !== undefined && options.package === undefined) throw usage('--channel needs --catalog and --package')
  if (catalogs && version === undefined) throw usage('--catalogs needs a --version')
  if (catalog === undefined && version === undefined) throw usage('Nothing is asked for')
}

function usage(message: string): KnownError {
  return new KnownError('USAGE', message, {
    hint: 'Begin with the catalogs of your version: --catalogs --version 4.18. Then --catalog CATALOG lists its packages, --package NAME the channels of one, --channel NAME the versions in it.',
  })
}

async function printCatalogs({ version = '', ...options }: OperatorsOptions, context: CliContext): Promise<number> {
  const { json, stdout, stderr } = context
  const registries = await openRegistries(options, context)
  try {
    const catalogs = await mapConcurrently(wellKnownCatalogs, 4, async (name): Promise<ListedCatalog> => {
      const catalog = `${name}:${catalogTag(version)}`
      try {
        const found = await registries.source.resolve(parseReference(catalog), context.signal)
        return { catalog, exists: found !== undefined }
      } catch (failure) {
        if (!(failure instanceof KnownError)) throw failure
        return { catalog, exists: false, failure }
      }
    })
    const failures = catalogs.flatMap(({ failure }) => failure ?? [])
    if (failures[0] && failures.length === catalogs.length) throw failures[0]
    stdout(json ? `${JSON.stringify(catalogsDocument(version, catalogs))}\n` : renderCatalogs(version, catalogs))
    for (const { catalog, exists, failure } of catalogs) {
      if (failure) stderr(renderError(failure))
      else if (!exists) stderr(`there is no ${catalog}\n`)
    }
    const first = catalogs.find(({ exists }) => exists)
    if (!json && first) stderr(`next: sallyport list operators --catalog ${first.catalog}\n`)
    return first && failures.length === 0 ? 0 : 1
  } finally {
    registries.close()
  }
}

async function print(name: string, options: OperatorsOptions, context: CliContext): Promise<number> {
  const { cwd, signal, stdout, json } = context
  const location = catalogLocation(name, { version: options.version, cwd })
  const opened = await openNamedCatalog(location, options, context)
  try {
    const catalog = await readCatalog(opened.files, { signal })
    const digest = opened.image?.digest
    const { document, text, next } = listed(catalog, options)
    const about = { catalog: opened.name, ...(digest !== undefined && { digest }) }
    stdout(json ? `${JSON.stringify({ ...about, ...document })}\n` : text)
    if (!json && next !== undefined) context.stderr(`next: sallyport list operators --catalog ${name} ${next}\n`)
    return 0
  } finally {
    await opened.close()
  }
}

interface Listed {
  readonly document: object
  readonly text: string
  /** What to add to the command line to see more. */
  readonly next?: string
}

function listed(catalog: Catalog, { package: packageName, channel }: OperatorsOptions): Listed {
  if (packageName === undefined) {
    const packages = listPackages(catalog)
    return { document: { packages }, text: renderPackages(packages), next: '--package NAME' }
  }
  if (channel === undefined) {
    const channels = listChannels(catalog, packageName)
    const document = { package: packageName, channels }
    return { document, text: renderChannels(packageName, channels), next: `--package ${packageName} --channel NAME` }
  }
  const versions = listVersions(catalog, packageName, channel)
  return { document: { package: packageName, channel, versions }, text: renderVersions(versions) }
}
