/** `ignition pointer`: a small config that says where the real one is, and proves it by its hash. */
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { openForPatching } from '../../ignition/patch/apply-changes.ts'
import { gzipped } from '../../ignition/patch/file-entry.ts'
import { judgePointer } from '../../ignition/pointer/judge-pointer.ts'
import { type HashKind, pointerConfig, verificationHash } from '../../ignition/pointer/pointer-config.ts'
import { platformLimits } from '../../ignition/size/platform-limits.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readIgnitionFile, writeIgnitionFile } from '../ignition-files.ts'
import { hasErrors } from '../render/ignition-patch.ts'
import { type PointerView, pointerDocument, renderPointer } from '../render/ignition-pointer.ts'

interface Options {
  url: string
  hash: HashKind
  ca?: string
  via: 'replace' | 'merge'
  platform?: string
  gzip?: string
  output?: string
}

const details = `
The hash is of FILE as it is: serve these very bytes. With --gzip FILE.gz serve that file; its hash is still that of what is
in it. The pointer is written to standard output, or to the file of -o; all else goes to standard error.
Exit status: 0; 1 where Ignition would refuse the pointer or never fetch what it names; 78 where FILE does not load.

Examples:
  sallyport ignition pointer bootstrap.ign --url https://web.lab/bootstrap.ign --ca ca.pem -o pointer.ign
  sallyport ignition pointer bootstrap.ign --url s3://lab-ignition/bootstrap.ign --platform aws
  sallyport ignition pointer bootstrap.ign --url http://web.lab/bootstrap.ign.gz --gzip bootstrap.ign.gz > pointer.ign`

export function definePointer(command: Command, host: CommandHost): void {
  command
    .summary('write a small config that leads to a large one, with its hash and the CA of the server')
    .description('Makes the pointer to a config that does not fit into what a platform gives to a machine.')
    .argument('<file>', 'the config that the pointer leads to')
    .requiredOption('--url <url>', 'where the machine fetches it: https, http, tftp, s3, arn, gs')
    .addOption(
      new Option('--hash <kind>', 'what the machine proves it by')
        .choices(['sha512', 'sha256', 'none'])
        .default('sha512'),
    )
    .option('--ca <file>', 'the CA of the server, in PEM, where the boot image does not trust it')
    .addOption(
      new Option('--via <how>', 'stand in the place of the pointer, or be merged into it')
        .choices(['replace', 'merge'])
        .default('replace'),
    )
    .addOption(
      new Option('--platform <name>', 'hold size and URL against this platform').choices(
        platformLimits.map(({ name }) => name),
      ),
    )
    .option('--gzip <file>', 'write FILE compressed there, to be served in its place; not for s3')
    .option('-o, --output <file>', 'where the pointer goes (default: standard output)')
    .addHelpText('after', details)
    .action(async (file: string, options: Options) => {
      host.done(await run(file, options, host.context()))
    })
}

async function run(name: string, options: Options, context: CliContext): Promise<number> {
  const { cwd, clock, json, stdout, stderr } = context
  const { url, hash, via, ca, platform: asked, gzip, output } = options
  const { text, mode } = await readIgnitionFile(name, cwd)
  const { version } = openForPatching(text, name)
  const bytes = Buffer.from(text)
  const pem = ca === undefined ? undefined : await readTextFile(resolve(cwd, ca))
  const request = { version, via, ca: pem, targets: [{ url, bytes, hash, isGzip: gzip !== undefined }] }
  const pointer = JSON.stringify(pointerConfig(request))
  const platform = platformLimits.find((one) => one.name === asked)
  const sizeBytes = Buffer.byteLength(pointer)
  const findings = judgePointer(request, { now: new Date(clock.now()), platform, text: pointer })
  const isRefused = hasErrors(findings)
  if (!isRefused && gzip !== undefined) await writeIgnitionFile(resolve(cwd, gzip), gzipped(bytes), mode)
  if (!isRefused && output !== undefined) await writeIgnitionFile(resolve(cwd, output), pointer, mode)
  const view: PointerView = {
    config: name,
    url,
    pointer,
    sizeBytes,
    hash: hash === 'none' ? undefined : verificationHash(bytes, hash),
    platform,
    output,
    gzip,
    findings,
  }
  if (json) stdout(`${JSON.stringify(pointerDocument(view))}\n`)
  else {
    if (!isRefused && output === undefined) stdout(`${pointer}\n`)
    stderr(renderPointer(view))
  }
  return isRefused ? 1 : 0
}
