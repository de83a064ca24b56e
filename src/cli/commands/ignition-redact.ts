/** `ignition redact`: a copy of a config that can be shown to others. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { KnownError } from '../../errors/known-error.ts'
import { type RedactedConfig, redactConfig } from '../../ignition/redact/redact-config.ts'
import { placeFiles } from '../../release/extract-place.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderRedacted } from '../render/ignition-redact.ts'

interface Options {
  output: string
  force?: boolean
}

const details = `
The copy has the same shape, and REDACTED-1, REDACTED-2, … in the place of secrets; the same secret has the same number. Gone are
private keys (their BEGIN and END lines stay), credentials of pull secrets (hosts stay), keys and tokens of kubeconfigs,
password hashes, SSH keys, what is in Secrets, tokens, and credentials in URLs, in scripts and in HTTP headers, also where they are
wrapped: in MachineConfigs, data URLs, base64 and gzip. What was found is looked for everywhere else, as it is, in base64, in
hex digits and percent-encoded. Hashes of changed files are those of the copy.
Then the copy is opened again down to the last wrapping, and not written where anything is left. What no one can know to be a
secret stays: a password in a sentence, a name, an address. Certificates, host names and the network stay too.
Exit status: 0; 1 where a secret would be left, or OUT is there; 78 where FILE is no config.

Examples:
  sallyport ignition redact bootstrap.ign -o bootstrap-shared.ign
  sallyport ignition redact worker.ign -o - | less`

export function defineRedact(command: Command, host: CommandHost): void {
  command
    .summary('a copy without secrets, for a support case or a colleague')
    .description('Writes a copy of an Ignition config with every secret replaced, and proves that none is left.')
    .argument('<file>', 'a config of specification 2.x or 3.x')
    .requiredOption('-o, --output <file>', 'where the copy goes; - is standard output')
    .option('--force', 'replace OUT')
    .addHelpText('after', details)
    .action(async (file: string, options: Options) => {
      host.done(await redact(file, options, host.context()))
    })
}

async function redact(name: string, { output, force }: Options, context: CliContext): Promise<number> {
  const { cwd, json, stdout } = context
  if (output === '-' && json) throw new KnownError('USAGE', '--json and --output - would both print to standard output')
  const [from, to] = [resolve(cwd, name), resolve(cwd, output)]
  if (from === to) throw new KnownError('USAGE', 'The copy cannot take the place of the config itself')
  const copy = redactConfig(await readTextFile(from), name)
  if (output === '-') {
    stdout(copy.text)
    return 0
  }
  await placeFiles(new Map([[to, Buffer.from(copy.text)]]), { isForced: force === true })
  const report = reportOf(copy, output)
  stdout(json ? `${JSON.stringify(report)}\n` : renderRedacted(report))
  return 0
}

/** Everything but the copy itself. */
function reportOf({ secrets, changed }: RedactedConfig, output: string): Parameters<typeof renderRedacted>[0] {
  return { output, secrets, changed }
}
