/** `catalog validate`: is this a catalog, and can every channel of it be followed. */
import type { Command } from 'commander'
import { checkCatalog } from '../../catalog/check-catalog.ts'
import { readCatalog } from '../../catalog/read-catalog.ts'
import { catalogHelp, catalogLocation, openNamedCatalog } from '../catalog-access.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { type AccessOptions, addAccessOptions } from '../registry-access.ts'
import { renderFindings } from '../render/findings.ts'
import { count } from '../render/quantities.ts'

const details = `
Reads all of the catalog. What makes it no catalog at all (a broken file, a name that is there twice) ends the command; what
is wrong with its channels, or names that lead nowhere, is listed.
Exit status: 0; 1 where something is wrong that keeps an operator from being installed or mirrored.

Examples:
  sallyport catalog validate ./configs
  sallyport catalog validate registry.lab:8443/olm/catalog:v4.18 --json`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('is this a catalog, and can every channel of it be followed')
    .description('Reads a catalog, and tells what is wrong in it.')
    .argument('<catalog>', catalogHelp)
  addAccessOptions(command)
    .addHelpText('after', details)
    .action(async (name: string, options: AccessOptions) => {
      host.done(await validate(name, options, host.context()))
    })
}

async function validate(name: string, options: AccessOptions, context: CliContext): Promise<number> {
  const { cwd, signal, stdout, json } = context
  const opened = await openNamedCatalog(catalogLocation(name, { cwd }), options, context)
  try {
    const catalog = await readCatalog(opened.files, { signal })
    const findings = checkCatalog(catalog)
    const channels = [...catalog.packages.values()].reduce((sum, one) => sum + one.channels.size, 0)
    const bundles = [...catalog.packages.values()].reduce((sum, one) => sum + one.bundles.size, 0)
    const isSound = !findings.some(({ severity }) => severity === 'error')
    const amounts = `${count(catalog.packages.size, 'package')}, ${count(channels, 'channel')}, ${count(bundles, 'bundle')}`
    const verdict = `${isSound ? 'valid' : 'not valid'}: ${opened.name}: ${amounts}\n`
    const document = { catalog: opened.name, packages: catalog.packages.size, channels, bundles, findings }
    stdout(json ? `${JSON.stringify(document)}\n` : `${verdict}${renderFindings(findings)}`)
    return isSound ? 0 : 1
  } finally {
    await opened.close()
  }
}
