/** `list releases` as oc-mirror has it. */
import type { Command } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import type { AskedChannels } from '../../release/graph-channels.ts'
import { listChannels, listMinors, listReleases } from '../../release/graph-listing.ts'
import { readArchitectures } from '../architectures.ts'
import type { CommandHost } from '../command-host.ts'
import { addRetryOptions, addSourceOptions, type ConnectionOptions } from '../connection-options.ts'
import type { CliContext } from '../context.ts'
import { openGraphs, versionFilter } from '../graph-access.ts'
import { readMinor } from '../minor-version.ts'
import { renderError } from '../render/error.ts'
import {
  type ListedArchitecture,
  releasesDocument,
  renderChannels,
  renderMinors,
  renderReleases,
} from '../render/release-list.ts'
import { define as defineOperators } from './list-operators.ts'

interface ReleasesOptions extends ConnectionOptions {
  version?: string
  channels?: boolean
  channel?: string
  filterByArchs: readonly string[]
}

const examples = `
Without --version or --channel: the minor versions. They are found by asking for one stable channel after another, since
an update service has no list of them; that is some 30 requests.

VERSION_FILTER, a regular expression, leaves out the versions that do not match. UPDATE_URL_OVERRIDE names another service.
Exit status: 0; 1 where an architecture has no such channel, or the service is out of reach.

Examples:
  sallyport list releases
  sallyport list releases --version 4.18 --channels
  sallyport list releases --channel stable-4.18
  sallyport list releases --channel eus-4.18 --filter-by-archs amd64,arm64,multi --json`

export function define(command: Command, host: CommandHost): void {
  command.description('What could be mirrored.')
  defineReleases(command.command('releases'), host)
  defineOperators(command.command('operators'), host)
}

function defineReleases(command: Command, host: CommandHost): void {
  command
    .summary('versions of OpenShift, their channels, the releases of a channel')
    .description('Lists versions of OpenShift, the channels of one of them, or the releases of a channel.')
    .option('--version <version>', 'a minor version: 4.18; alone the same as --channel stable-4.18', readMinor)
    .option('--channels', 'the channels of --version')
    .option('--channel <channel>', 'the releases of this channel')
    .option('--filter-by-archs <list>', 'amd64,arm64,ppc64le,s390x,multi', readArchitectures, ['amd64'])
  addRetryOptions(addSourceOptions(command))
    .addHelpText('after', examples)
    .action(async (options: ReleasesOptions) => {
      const context = host.context()
      if (options.channels && options.version === undefined) {
        throw new KnownError('USAGE', '--channels needs a --version', {
          hint: 'For example: --version 4.18 --channels.',
        })
      }
      const { graphs, close } = await openGraphs(options, context)
      const asked = { graphs, architecture: 'amd64', signal: context.signal }
      try {
        host.done(await list(options, asked, context))
      } finally {
        close()
      }
    })
}

async function list(options: ReleasesOptions, asked: AskedChannels, context: CliContext): Promise<number> {
  const { version } = options
  if (options.channels && version !== undefined) return printChannels(version, asked, context)
  const channel = options.channel ?? (version === undefined ? undefined : `stable-${version}`)
  return channel === undefined ? printMinors(asked, context) : printReleases(channel, { options, asked, context })
}

async function printMinors(asked: AskedChannels, { json, stdout, stderr }: CliContext): Promise<number> {
  const versions = await listMinors(asked)
  stdout(json ? `${JSON.stringify({ versions })}\n` : renderMinors(versions))
  const newest = versions.findLast(({ channel }) => channel.startsWith('stable-'))
  if (!json && newest) stderr(`next: sallyport list releases --version ${newest.version} --channels\n`)
  return versions.length > 0 ? 0 : 1
}

async function printChannels(version: string, asked: AskedChannels, context: CliContext): Promise<number> {
  const channels = await listChannels(version, asked)
  context.stdout(context.json ? `${JSON.stringify({ version, channels })}\n` : renderChannels(version, channels))
  return 0
}

interface ReleasesQuestion {
  readonly options: ReleasesOptions
  readonly asked: AskedChannels
  readonly context: CliContext
}

async function printReleases(channel: string, { options, asked, context }: ReleasesQuestion): Promise<number> {
  const filter = versionFilter(context.env)
  const listed = await mapConcurrently(options.filterByArchs, 5, async (architecture): Promise<ListedArchitecture> => {
    try {
      const releases = await listReleases(channel, { ...asked, architecture })
      return { architecture, releases: releases.filter(({ version }) => filter?.test(version) ?? true) }
    } catch (failure) {
      if (!(failure instanceof KnownError) || failure.code !== 'GRAPH_CHANNEL_UNKNOWN') throw failure
      return { architecture, releases: [], failure }
    }
  })
  const failures = listed.flatMap(({ failure }) => failure ?? [])
  if (failures[0] && failures.length === listed.length) throw failures[0]
  const document = context.json ? `${JSON.stringify(releasesDocument(channel, listed))}\n` : undefined
  context.stdout(document ?? renderReleases(channel, listed))
  for (const failure of failures) context.stderr(renderError(failure))
  if (filter)
    context.log.warn(`only the versions that match VERSION_FILTER ${context.env['VERSION_FILTER']} are listed`)
  return failures.length > 0 ? 1 : 0
}
