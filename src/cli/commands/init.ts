import { dirname, join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { readConfigurationText } from '../../config/image-set-file.ts'
import { InvalidConfiguration } from '../../config/invalid-config.ts'
import { loadSite } from '../../config/site-configuration.ts'
import { editSite, type FieldChange } from '../../config/site-edit.ts'
import { platformNames } from '../../config/site-platforms.ts'
import { siteVariants } from '../../config/site-stages.ts'
import {
  imageSetFileName,
  renderImageSetTemplate,
  renderSiteTemplate,
  type SiteAnswers,
} from '../../config/site-template.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext, ExitStatus } from '../context.ts'
import { isInTheWay, writeNewFile } from '../new-file.ts'
import { renderChangedSite, renderNewSite } from '../render/new-site.ts'
import { answersByDefault, askSite, type GivenAnswers, openQuestions } from '../site-questions.ts'

interface Options extends GivenAnswers {
  output: string
  force?: boolean
  yes?: boolean
  set?: FieldChange[]
}

const details = `
On a terminal it asks for what no flag says. Nothing is written before the last answer, and a file that is there stays, unless
--force is given. An ImageSetConfiguration is written beside it where there is none.

Examples:
  sallyport init
  sallyport init --yes
  sallyport init --variant disconnected --platform none --name c1 --base-domain lab.example.com \\
    --registry mirror.lab.example.com:8443/ocp4 --release 4.18.9
  sallyport init --set cluster.computeReplicas=5 --set stages.install.timeout=90m`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Writes sallyport.yaml, which says what a site is: asks, or takes flags. Or changes a field of one.')
    .addOption(new Option('--variant <variant>', 'what the cluster sees of the world').choices(siteVariants))
    .addOption(new Option('--platform <platform>', 'where it runs').choices(platformNames))
    .option('--name <name>', 'name of the cluster')
    .option('--base-domain <domain>', 'domain that the name stands in')
    .option('--registry <place>', 'the mirror as nodes name it: host:port/path')
    .option('--release <release>', 'version (4.18.9), channel (stable-4.18) or image')
    .option('--proxy <url>', 'proxy that nodes reach out through: http://host:port')
    .option('-o, --output <file>', 'the file', 'sallyport.yaml')
    .option('--force', 'replace the file that is there')
    .option('--yes', 'ask nothing: take the defaults for what no flag says')
    .option('--set <field=value>', 'change a field of the file that is there, and keep its comments', addChange)
    .addHelpText('after', details)
    .action(async (options: Options) => {
      const context = host.context()
      host.done(await (options.set ? change(options, options.set, context) : create(options, context)))
    })
}

function addChange(text: string, before: readonly FieldChange[] = []): FieldChange[] {
  const at = text.indexOf('=')
  if (at < 1) throw new KnownError('USAGE', `--set ${text}: write FIELD=VALUE, for example cluster.computeReplicas=5`)
  return [...before, { field: text.slice(0, at), value: text.slice(at + 1) }]
}

async function change(options: Options, changes: readonly FieldChange[], context: CliContext): Promise<ExitStatus> {
  const path = resolve(context.cwd, options.output)
  const before = await readConfigurationText(path)
  const text = editSite({ file: options.output, text: before }, changes)
  await writeNewFile(path, { text, isForced: true })
  const fields = changes.map(({ field }) => field)
  if (context.json) context.stdout(`${JSON.stringify({ file: options.output, changed: fields })}\n`)
  else context.stdout(renderChangedSite(options.output, fields))
  return 0
}

async function create(options: Options, context: CliContext): Promise<ExitStatus> {
  const file = options.output
  const path = resolve(context.cwd, file)
  // Said before somebody answers seven questions for nothing.
  if (options.force !== true && (await isInTheWay(path))) {
    throw new KnownError('FILE_EXISTS', `${path} is there already`, {
      hint: 'Change a field of it with --set FIELD=VALUE, name another file with --output, or replace it with --force.',
    })
  }
  const answers = await answersOf(options)
  const text = renderSiteTemplate(answers)
  const { site } = refuseMisfit(file, text)
  await writeNewFile(path, { text, isForced: options.force === true })
  const wanted = site.mirror && answers.platform !== 'lab' ? join(dirname(path), imageSetFileName) : undefined
  const hasImageSet = wanted !== undefined && (await isInTheWay(wanted))
  if (wanted !== undefined && !hasImageSet) {
    await writeNewFile(wanted, { text: renderImageSetTemplate(answers), isForced: false })
  }
  const imageSet =
    wanted === undefined ? undefined : { file: join(dirname(file), imageSetFileName), isNew: !hasImageSet }
  if (context.json) context.stdout(`${JSON.stringify({ file, imageSet, site })}\n`)
  else context.stdout(renderNewSite({ file, imageSet, site }))
  return 0
}

async function answersOf(options: Options): Promise<SiteAnswers> {
  const given = givenAnswers(options)
  const open = openQuestions(given)
  if (options.yes === true || open.length === 0) return answersByDefault(given)
  if (process.stdin.isTTY === true) return askSite(given, { input: process.stdin, output: process.stderr })
  const flags = open.map(({ flag }) => flag).join(', ')
  throw new KnownError('USAGE', `This is no terminal, so nobody can be asked: ${flags}`, {
    hint: 'Give these flags, or take the defaults with --yes.',
  })
}

function givenAnswers({ variant, platform, name, baseDomain, registry, release, proxy }: Options): GivenAnswers {
  const all = { variant, platform, name, baseDomain, registry, release, proxy }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** Each answer fits, but not all of them together: `--variant proxy-only --registry …`. */
function refuseMisfit(file: string, text: string): ReturnType<typeof loadSite> {
  try {
    return loadSite({ file, text })
  } catch (error) {
    if (!(error instanceof InvalidConfiguration)) throw error
    const summaries = error.findings.map(({ summary }) => summary).join('\n')
    throw new KnownError('USAGE', `These answers do not fit together; nothing is written\n${summaries}`)
  }
}
