/** `ignition size`: how large a config is in each form, and which platforms take it. */
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { compressFiles } from '../../ignition/size/compress-files.ts'
import { judgePlatforms, measureConfig } from '../../ignition/size/measure-size.ts'
import { platformLimits } from '../../ignition/size/platform-limits.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readIgnitionFile, writeIgnitionFile } from '../ignition-files.ts'
import { renderSizes, sizeDocument } from '../render/ignition-size.ts'

interface Options {
  platform?: string
  compress?: string
}

const details = `
Compressing file by file works on every platform, and behind s3: too, where a config must not be compressed as a whole: what
the machine gets is the same. A config that fits in no form needs a pointer: sallyport ignition pointer --help.
Exit status: 0; 1 where --platform takes it in no form; 78 where it does not load.

Examples:
  sallyport ignition size bootstrap.ign
  sallyport ignition size worker.ign --platform aws --compress worker-small.ign`

export function defineSize(command: Command, host: CommandHost): void {
  command
    .summary('how large a config is, and which platforms take it as it is, compressed, or by a pointer only')
    .description('Measures an Ignition config against the limits of platforms for what they give to a machine.')
    .argument('<file>', 'the config')
    .addOption(new Option('--platform <name>', 'only this one').choices(platformLimits.map(({ name }) => name)))
    .option('--compress <file>', 'write it without white space, with every file compressed that gets smaller by it')
    .addHelpText('after', details)
    .action(async (file: string, options: Options) => {
      host.done(await run(file, options, host.context()))
    })
}

async function run(name: string, { platform, compress }: Options, context: CliContext): Promise<number> {
  const { cwd, json, stdout } = context
  const { text, mode } = await readIgnitionFile(name, cwd)
  const sizes = measureConfig(text, name)
  const verdicts = judgePlatforms(sizes).filter((one) => platform === undefined || one.platform.name === platform)
  if (compress !== undefined) await writeIgnitionFile(resolve(cwd, compress), compressFiles(text, name).text, mode)
  const view = { config: name, sizes, verdicts, compressed: compress }
  stdout(json ? `${JSON.stringify(sizeDocument(view))}\n` : renderSizes(view))
  return platform !== undefined && verdicts.some(({ fit }) => fit === 'pointer') ? 1 : 0
}
