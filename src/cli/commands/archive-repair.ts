import type { Command } from 'commander'
import { type DirectoryRepair, repairDirectory } from '../../flows/repair-directory.ts'
import { directoryAt } from '../../mirror/workspace.ts'
import type { CommandHost } from '../command-host.ts'
import { directoryRepairJson, isWhole, renderDirectoryRepair } from '../render/archive-repair.ts'
import { followReading } from '../render/reading-progress.ts'

const examples = `
First with the parity volumes that are there, then with the repairs that lie beside their archive (sallyport mirror --repair). Nothing
is written that is not proven; what becomes whole is again, byte for byte, what it was.
Exit status: 0 everything is whole now; 1 something is still missing.

Examples:
  sallyport archive repair /media/usb
  sallyport archive verify /media/usb --repair-list missing.json
      what is still missing, to be taken to the side that made the archive`

export function defineRepair(command: Command, host: CommandHost): void {
  command
    .summary('make lost and damaged volumes whole again, from parity and from repairs')
    .description('Mends the archives of a directory in their place.')
    .argument('<directory>', 'DIR or file://DIR')
    .addHelpText('after', examples)
    .action(async (location: string) => {
      const context = host.context()
      const directory = directoryAt(location, context.cwd)
      const progress = followReading(context)
      let repairs: readonly DirectoryRepair[]
      try {
        repairs = await repairDirectory(directory, { signal: context.signal, onBytes: progress.onBytes })
      } finally {
        progress.stop()
      }
      if (context.json) context.stdout(`${JSON.stringify(repairs.map(directoryRepairJson))}\n`)
      else context.stdout(repairs.map((repair) => renderDirectoryRepair(directory, repair)).join('\n'))
      host.done(repairs.every(isWhole) ? 0 : 1)
    })
}
