import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { fileLocationHelp, openFiles } from '../files-access.ts'
import { type AccessOptions, addAccessOptions } from '../registry-access.ts'
import { fileJson, renderFiles } from '../render/files.ts'

const examples = `
Of a mirror, the files below PATH/files are listed, where the registry lists its repositories.
Exit status: 0; 1 where an archive cannot be read, or a file is missing from it.

Examples:
  sallyport files ls /media/usb
  sallyport files ls docker://registry.lab:8443/ocp
  sallyport files ls /media/usb --json`

export function defineFilesLs(command: Command, host: CommandHost): void {
  command
    .summary('which files there are, with size, checksum and where they came from')
    .description('Lists the files that an archive carries, or that lie in a mirror.')
    .argument('<place>', fileLocationHelp)
  addAccessOptions(command)
    .addHelpText('after', examples)
    .action(async (place: string, options: AccessOptions) => {
      const context = host.context()
      const { files, problems, close } = await openFiles(place, { options }, context)
      try {
        for (const { message } of problems) context.log.warn(message)
        context.stdout(context.json ? `${JSON.stringify(files.map(fileJson))}\n` : renderFiles(files, place))
        const isMissing = files.some(({ state }) => state === 'missing' || state === 'hole')
        host.done(problems.length > 0 || isMissing ? 1 : 0)
      } finally {
        await close()
      }
    })
}
