import type { Command } from 'commander'
import { formatReference } from '../../oci/reference.ts'
import { readReleaseImage } from '../../release/payload-image.ts'
import type { CommandHost } from '../command-host.ts'
import { addReleaseOptions, openRelease, type ReleaseOptions, releaseArgumentHelp } from '../release-access.ts'

export function defineInfo(command: Command, host: CommandHost): void {
  command.summary('what a release is made of').argument('[release]', releaseArgumentHelp)
  addReleaseOptions(command).action(async (argument: string | undefined, options: ReleaseOptions) => {
    const context = host.context()
    const { source, reference, close } = await openRelease(argument, options, context)
    try {
      const { images } = await readReleaseImage(reference, {
        source,
        architecture: options.arch,
        signal: context.signal,
      })
      const [{ payload }] = images
      const lines = payload.components.map(({ name, reference: image }) => `${name} ${formatReference(image)}\n`)
      context.stdout(`${payload.version}\n${lines.join('')}`)
      host.done(0)
    } finally {
      await close()
    }
  })
}
