import type { Command } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { addMirrorOptions, type MirrorOptions } from '../mirror-options.ts'
import { ignoredFlags } from '../oc-mirror-options.ts'
import { runRepair } from './mirror-repair.ts'
import { runToDisk } from './mirror-to-disk.ts'
import { runToRegistry } from './mirror-to-registry.ts'

const examples = `
Exit status: 0 everything is where it should be; else the sum of 2 (a release image failed), 4 (operator), 8 (additional
image), 16 (helm); 1 nothing could be begun; 64 wrong usage; 78 the configuration does not load; 130 interrupted.

Examples:
  sallyport mirror -c isc.yaml --workspace file:///srv/mirror docker://registry.lab:8443/ocp   registry to registry
  sallyport mirror -c isc.yaml file:///media/usb                                               to a disk
  sallyport mirror --from file:///media/usb docker://registry.lab:8443/ocp                     from the disk
  sallyport mirror -c isc.yaml file:///media/usb --base receipt.json                           only what is missing there
  sallyport mirror -c isc.yaml file:///media/usb --archive-size 4GiB                           in volumes for small media
  sallyport mirror -c isc.yaml file:///media/usb --dry-run
  sallyport verify mirror --workspace file:///srv/mirror docker://registry.lab:8443/ocp`

export function define(command: Command, host: CommandHost): void {
  command
    .description(
      'Brings what a configuration asks for into a registry, or onto a disk, or from that disk into a registry.',
    )
    .argument('<destination>', 'docker://HOST[:PORT]/PATH, or file://DIR')
  addMirrorOptions(command)
    .addHelpText('after', examples)
    .action(async (destination: string, options: MirrorOptions) => {
      const context = host.context()
      for (const line of ignoredFlags(options, 'mirror', context.env)) context.log.warn(line)
      host.done(await run(destination, options, context))
    })
}

function run(destination: string, options: MirrorOptions, context: CliContext): Promise<number> {
  if (destination.startsWith('docker://')) return runToRegistry(destination, options, context)
  if (destination.startsWith('file://') && options.repair !== undefined) return runRepair(destination, options, context)
  if (destination.startsWith('file://') && options.from === undefined) return runToDisk(destination, options, context)
  const why = destination.startsWith('file://')
    ? 'with --from it must be a registry'
    : 'it is neither docker:// nor file://'
  throw new KnownError('USAGE', `"${destination}" is no destination: ${why}`, {
    hint: 'Write docker://HOST[:PORT]/PATH for a registry, or file://DIR for a disk.',
  })
}
