import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { checkConfigurationFile } from '../../config/check-configuration.ts'
import { convertToV2alpha1 } from '../../config/convert.ts'
import { readConfigurationText } from '../../config/image-set-file.ts'
import { configurationJsonSchema, type SchemaKind, schemaKinds } from '../../config/json-schema.ts'
import { writeStaged } from '../../store/staged-write.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext, ExitStatus } from '../context.ts'
import { renderChanges, renderConfigFindings } from '../render/config-findings.ts'
import { defineRegistries } from './config-registries.ts'

const checkExamples = `
Exit status: 0 sallyport takes each file; 78 at least one would be refused.

Examples:
  sallyport config check isc.yaml
  sallyport config check sallyport.yaml
  sallyport --json config check *.yaml`

const convertExamples = `
What changed, and what has no successor, is told on standard error.

Examples:
  sallyport config convert isc.yaml > isc-v2.yaml
  sallyport config convert isc.yaml --output isc.yaml`

const schemaExamples = `
Examples:
  sallyport config schema > isc.schema.json
  sallyport config schema --kind DeleteImageSetConfiguration > disc.schema.json
  sallyport config schema --kind Site > sallyport.schema.json
then, as the first line of a configuration, for editors with the YAML language server:
  # yaml-language-server: $schema=isc.schema.json`

export function define(command: Command, host: CommandHost): void {
  command.description(
    'Looks at what oc-mirror, sallyport and the nodes are configured with: checks it, updates it, describes it.',
  )
  defineCheck(command.command('check'), host)
  defineConvert(command.command('convert'), host)
  defineSchema(command.command('schema'), host)
  defineRegistries(command.command('registries'), host)
}

function defineCheck(command: Command, host: CommandHost): void {
  command
    .summary('say what is wrong with configurations, and what of them has no effect')
    .argument('<file...>', 'ImageSetConfiguration, DeleteImageSetConfiguration, or sallyport.yaml')
    .addHelpText('after', checkExamples)
    .action(async (files: string[]) => {
      host.done(await check(files, host.context()))
    })
}

async function check(files: readonly string[], context: CliContext): Promise<ExitStatus> {
  const findings = []
  for (const file of files) findings.push(...(await checkConfigurationFile(file)))
  const report = { files: files.length, findings }
  context.stdout(context.json ? `${JSON.stringify(report)}\n` : renderConfigFindings(report))
  return findings.some(({ severity }) => severity === 'error') ? 78 : 0
}

function defineConvert(command: Command, host: CommandHost): void {
  command
    .summary('write a configuration of an older version as v2alpha1')
    .argument('<file>', 'ImageSetConfiguration or DeleteImageSetConfiguration: v1alpha1, v1alpha2')
    .option('--output <file>', 'where to write it; the file itself, too (default: standard output)')
    .addHelpText('after', convertExamples)
    .action(async (file: string, { output }: { output?: string }) => {
      const context = host.context()
      const conversion = convertToV2alpha1({ file, text: await readConfigurationText(file) })
      context.stderr(renderChanges(file, conversion))
      if (output !== undefined)
        await writeStaged(resolve(context.cwd, output), (staged) => staged.writeFile(conversion.text))
      if (context.json) context.stdout(`${JSON.stringify(conversion)}\n`)
      else if (output === undefined) context.stdout(conversion.text)
      host.done(0)
    })
}

function defineSchema(command: Command, host: CommandHost): void {
  command
    .summary('print the JSON Schema of a configuration, for editors')
    .addOption(new Option('--kind <kind>', 'which file it describes').choices(schemaKinds).default(schemaKinds[0]))
    .addHelpText('after', schemaExamples)
    .action(({ kind }: { kind: SchemaKind }) => {
      host.context().stdout(`${JSON.stringify(configurationJsonSchema(kind), null, 2)}\n`)
      host.done(0)
    })
}
