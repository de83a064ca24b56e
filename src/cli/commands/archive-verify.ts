import type { Command } from 'commander'
import type { FoundArchive } from '../../archive/find-archives.ts'
import { type ArchiveVerifier, loadVerifyKey } from '../../archive/signature.ts'
import { type ArchiveVerification, verifyArchive } from '../../archive/verify-archive.ts'
import { archivePathHelp, archivesAt } from '../archive-paths.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderVerification, verificationJson } from '../render/archive-verification.ts'
import { followReading } from '../render/reading-progress.ts'

interface Options {
  verifyKey?: string
}

const examples = `
Reads every byte once. Exit status: 0 every byte is as it was written; 1 something is damaged, missing, or not signed by the key.

Examples:
  sallyport archive verify /media/usb
  sallyport archive verify /media/usb:3 --verify-key site.pub.pem`

export function defineVerify(command: Command, host: CommandHost): void {
  command
    .summary('is every byte as it was written; which images need what is damaged')
    .description('Proves archives: every flipped, missing or superfluous byte is found, and what it means is told.')
    .argument('<archive>', archivePathHelp)
    .option('--verify-key <file>', 'the public key that must have signed')
    .addHelpText('after', examples)
    .action(async (location: string, options: Options) => {
      const context = host.context()
      const found = await archivesAt(location, context.cwd)
      const verifier = options.verifyKey === undefined ? undefined : await loadVerifyKey(options.verifyKey)
      const results = await verifyAll(found, verifier, context)
      if (context.json) context.stdout(`${JSON.stringify(results.map(verificationJson))}\n`)
      else context.stdout(results.map(renderVerification).join('\n'))
      host.done(results.some(({ findings }) => findings.some(({ severity }) => severity === 'error')) ? 1 : 0)
    })
}

async function verifyAll(
  found: readonly FoundArchive[],
  verifier: ArchiveVerifier | undefined,
  context: CliContext,
): Promise<readonly ArchiveVerification[]> {
  const total = found.flatMap(({ volumes }) => volumes).reduce((sum, { size }) => sum + size, 0)
  const { signal } = context
  const progress = followReading(context, total)
  try {
    const results: ArchiveVerification[] = []
    for (const one of found) results.push(await verifyArchive(one, { verifier, signal, onBytes: progress.onBytes }))
    return results
  } finally {
    progress.stop()
  }
}
