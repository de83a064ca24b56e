import { resolve } from 'node:path'
import type { Command } from 'commander'
import { writeKeyFiles } from '../../archive/format/make-key.ts'
import type { CommandHost } from '../command-host.ts'

const examples = `
Any key of OpenSSL does as well: openssl genpkey -algorithm ed25519 -out site.pem

Examples:
  sallyport archive keygen site.pem
      writes site.pem, which stays here, and site.pub.pem for the other side`

export function defineKeygen(command: Command, host: CommandHost): void {
  command
    .summary('make a key to sign archives and receipts with')
    .description('Writes an Ed25519 key and, beside it, its public half.')
    .argument('<file>', 'where the private key goes; the public half gets the name with .pub.pem')
    .addHelpText('after', examples)
    .action(async (file: string) => {
      const { cwd, json, stdout } = host.context()
      const { secret, open, key } = await writeKeyFiles(resolve(cwd, file))
      const text = `${secret}: keep it here, it signs\n${open}: carry it to the other side, it verifies\nkey ${key}\n`
      stdout(json ? `${JSON.stringify({ secret, open, key })}\n` : text)
      host.done(0)
    })
}
