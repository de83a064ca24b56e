/** `ignition inspect`: what is in a config, as a person wants to read it. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import type { Finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { isSecretFile } from '../../openshift/bootstrap/bootstrap-file.ts'
import { type Inspection, inspectConfig } from '../../openshift/bootstrap/inspection.ts'
import { compareRuns } from '../../openshift/bootstrap/same-run.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderFindings } from '../render/findings.ts'
import { renderInspection } from '../render/ignition-inspect.ts'
import { renderCertificates } from '../render/ignition-inspect-certificates.ts'
import { inspectionDocument } from '../render/ignition-inspect-document.ts'
import { renderFiles } from '../render/ignition-inspect-files.ts'
import { renderUnits } from '../render/ignition-inspect-units.ts'

interface Options {
  files?: boolean
  units?: boolean
  certificates?: boolean
  cat?: string
  showSecrets?: boolean
}

const details = `
Nothing is asked over the network. A FILE is an Ignition config of specification 2.x or 3.x, or a MachineConfig. Several are
compared: configs of one run of openshift-install have one root CA.
Credentials, keys and password hashes are never printed, but for a file that --cat and --show-secrets ask for.
Exit status: 0; 1 where a finding is an error (certificates that ended, configs of different runs, a registries.conf that
podman refuses); 64 where --cat names nothing that is in the config; 78 where a config does not load.

Examples:
  sallyport ignition inspect bootstrap.ign
  sallyport ignition inspect bootstrap.ign master.ign worker.ign
  sallyport ignition inspect bootstrap.ign --units
  sallyport ignition inspect bootstrap.ign --cat /etc/containers/registries.conf
  sallyport ignition inspect --json bootstrap.ign | jq -r '.configs[0].certificates[] | [.notAfter, .subject] | @tsv'`

export function defineInspect(command: Command, host: CommandHost): void {
  command
    .summary('what is in a config: release, mirrors, trust, certificates, files, units and their order')
    .description('Tells what Ignition configs hold, and what is wrong with them by themselves.')
    .argument('<file...>', 'bootstrap.ign, master.ign, worker.ign, a MachineConfig, or any other config')
    .option('--files', 'only the files, every one with its purpose')
    .option('--units', 'only the units, drawn in their order')
    .option('--certificates', 'only the certificates')
    .option('--cat <path>', 'print this file, or this unit, as it will be on the machine')
    .option('--show-secrets', 'let --cat print keys, credentials and Secrets too')
    .addHelpText('after', details)
    .action(async (names: string[], options: Options) => {
      host.done(await inspect(names, options, host.context()))
    })
}

async function inspect(names: readonly string[], options: Options, context: CliContext): Promise<number> {
  const { cwd, clock, json, stdout } = context
  const now = clock.now()
  const texts = await Promise.all(names.map((name) => readTextFile(resolve(cwd, name))))
  const inspections = names.map((fileName, index) => inspectConfig(texts[index] ?? '', { fileName, now }))
  if (options.cat !== undefined)
    return printFile(inspections, options.cat, { ...context, isOpen: options.showSecrets === true })
  const findings = [...inspections.flatMap((one) => one.findings), ...compareRuns(inspections)]
  stdout(
    json
      ? `${JSON.stringify(inspectionDocument(inspections, findings, now))}\n`
      : render(inspections, findings, { options, now }),
  )
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

function render(
  inspections: readonly Inspection[],
  findings: readonly Finding[],
  { options, now }: { readonly options: Options; readonly now: number },
): string {
  const { files, units, certificates } = options
  const isNarrow = files || units || certificates
  const parts = inspections.map((inspection) => {
    if (!isNarrow) return renderInspection(inspection, now)
    const head = inspections.length > 1 ? [`${inspection.fileName}\n`] : []
    return [
      ...head,
      ...(files ? [renderFiles(inspection)] : []),
      ...(units ? [renderUnits(inspection)] : []),
      ...(certificates ? [renderCertificates(inspection, now)] : []),
    ].join('\n')
  })
  return [...parts, ...(isNarrow || findings.length === 0 ? [] : [renderFindings(findings)])].join('\n')
}

interface CatContext extends Pick<CliContext, 'json' | 'stdout'> {
  /** True where secrets may be printed. */
  readonly isOpen: boolean
}

function printFile(inspections: readonly Inspection[], name: string, { json, stdout, isOpen }: CatContext): number {
  const [only, another] = inspections
  if (only === undefined || another !== undefined) throw new KnownError('USAGE', '--cat looks into one config')
  const found = findText(only, name)
  if (found === undefined)
    throw new KnownError('USAGE', `${only.fileName} holds no ${name}`, {
      hint: `sallyport ignition inspect --files ${only.fileName} lists what it holds.`,
      details: { file: only.fileName, path: name },
    })
  if (found.isSecret && !isOpen)
    throw new KnownError('USAGE', `${found.path} holds secrets`, {
      hint: 'With --show-secrets it is printed: take care where that goes.',
      details: { file: only.fileName, path: found.path },
    })
  const { path, text } = found
  stdout(json ? `${JSON.stringify({ path, text })}\n` : text)
  return 0
}

/** A file by its path; a unit or drop-in by its path or the name of the unit. */
function findText(
  { bootstrap }: Inspection,
  name: string,
): { path: string; text: string; isSecret: boolean } | undefined {
  const file = bootstrap.files.get(name)
  if (file !== undefined) return { path: file.path, text: file.text, isSecret: isSecretFile(file) }
  for (const unit of bootstrap.units) {
    const texts = [...(unit.text === undefined ? [] : [{ path: unit.path, text: unit.text }]), ...unit.dropIns]
    const found = unit.name === name ? texts[0] : texts.find(({ path }) => path === name)
    if (found !== undefined) return { path: found.path, text: found.text, isSecret: false }
  }
  return undefined
}
