/** `list releases` and `list operators` of oc-mirror: understood, and answered with what to do instead. */
import type { Command } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import type { CommandHost } from '../command-host.ts'

interface Listing {
  readonly name: string
  readonly flags: readonly string[]
  readonly hint: string
}

const listings: readonly Listing[] = [
  {
    name: 'releases',
    flags: ['--version <version>', '--channels', '--channel <channel>', '--filter-by-archs <archs>'],
    hint: 'Ask the update graph itself: curl "https://api.openshift.com/api/upgrades_info/v1/graph?arch=amd64&channel=stable-4.18" | jq -r ".nodes[].version", and name the release in mirror.platform.release.',
  },
  {
    name: 'operators',
    flags: ['--catalogs', '--version <version>', '--catalog <catalog>', '--package <package>', '--channel <channel>'],
    hint: 'List them with oc-mirror list operators, or opm render CATALOG; operators themselves are left to oc-mirror for now.',
  },
]

export function define(command: Command, _host: CommandHost): void {
  command.description('What could be mirrored. Not carried out by this version: each says what to do instead.')
  for (const { name, flags, hint } of listings) {
    const listing = command.command(name).description('not carried out by this version')
    for (const flag of flags) listing.option(flag)
    listing.action(() => {
      throw new KnownError('USAGE', `sallyport list ${name} is not carried out by this version`, { hint })
    })
  }
}
