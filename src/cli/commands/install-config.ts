import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { inFileOrder } from '../../config/invalid-config.ts'
import { openSite, type SiteConfig } from '../../config/site-configuration.ts'
import { readSiteSecrets } from '../../config/site-secret-values.ts'
import { readTextFile } from '../../config/yaml-document.ts'
import type { Finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { checkInstallConfig } from '../../install/check-install-config.ts'
import { effectiveNoProxy } from '../../install/cluster-proxy.ts'
import { gatherMaterial, type MaterialSource, maskedMaterial } from '../../install/install-config-material.ts'
import { renderInstallConfig } from '../../install/render-install-config.ts'
import { type MirrorEntry, parseImageMirrorSets } from '../../openshift/image-mirror-set.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext, ExitStatus } from '../context.ts'
import { writeNewFile } from '../new-file.ts'
import { renderConfigFindings } from '../render/config-findings.ts'

interface Options {
  file: string
  check?: string
  release?: string
  mirrors?: string[]
  mirrorAuth?: string
  mirrorCa?: string
  output?: string
  force?: boolean
}

const details = `
On standard output secrets are shown as ***; --output writes the file with them, readable by you alone. openshift-install deletes
the install-config that it reads: keep a copy, or render it again.
Exit status: 0; 1 where the installer would refuse the install-config; 78 where sallyport.yaml or the file does not load.

Examples:
  sallyport install-config
  sallyport install-config --output install/install-config.yaml --mirrors working-dir/cluster-resources/idms-oc-mirror.yaml
  sallyport install-config --check install-config.yaml --release 4.18.9`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Renders install-config.yaml out of sallyport.yaml, or checks one that is there.')
    .option('-f, --file <file>', 'the site', 'sallyport.yaml')
    .option('--check <file>', 'check this install-config instead of rendering one')
    .option('--release <version>', 'the release that installs it (default: release.version of the site)')
    .option('--mirrors <files...>', 'cluster resources of the mirror (default: where sallyport mirror puts a release)')
    .option('--mirror-auth <file>', 'auth file of the mirror (default: mirror.credentials of the site)')
    .option('--mirror-ca <file>', 'PEM file of the authority of the mirror (default: mirror.ca of the site)')
    .option('-o, --output <file>', 'write it here, with the secrets')
    .option('--force', 'replace the file that is there')
    .addHelpText('after', details)
    .action(async (options: Options) => {
      const context = host.context()
      const { check } = options
      host.done(await (check === undefined ? render(options, context) : checkFile(check, options, context)))
    })
}

async function checkFile(path: string, { release }: Options, context: CliContext): Promise<ExitStatus> {
  const file = resolve(context.cwd, path)
  const text = await readTextFile(file).catch((error: unknown) => {
    if (!(error instanceof KnownError) || error.code !== 'FILE_UNREADABLE') throw error
    throw new KnownError('CONFIG_INVALID', error.message, { hint: error.hint })
  })
  const findings = checkInstallConfig({ file: path, text }, release)
  if (context.json) context.stdout(`${JSON.stringify({ file: path, findings })}\n`)
  else context.stdout(renderConfigFindings({ files: 1, findings }))
  if (findings.some(({ id }) => id.startsWith('config.'))) return 78
  return statusOf(findings)
}

function statusOf(findings: readonly Finding[]): ExitStatus {
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

async function render(options: Options, context: CliContext): Promise<ExitStatus> {
  const path = resolve(context.cwd, options.file)
  const { site, findings: notes } = await openSite(path)
  const source = await sourceOf(options, dirname(path), context)
  const { output } = options
  const shown = renderInstallConfig(site, await maskedMaterial(site, source))
  if (output !== undefined) {
    const secrets = await readSiteSecrets(site, { directory: dirname(path), env: context.env })
    const text = renderInstallConfig(site, await gatherMaterial(site, source, secrets))
    await writeNewFile(resolve(context.cwd, output), { text, mode: 0o600, isForced: options.force === true })
  }
  const found = checkInstallConfig(
    { file: output ?? 'install-config.yaml', text: shown },
    source.version ?? site.release.version,
  )
  tell({ site, shown, output, findings: [...notes, ...inFileOrder(found)] }, context)
  return statusOf(found)
}

interface Rendered {
  readonly site: SiteConfig
  /** With *** for each secret. */
  readonly shown: string
  readonly output: string | undefined
  readonly findings: readonly Finding[]
}

function tell({ site, shown, output, findings }: Rendered, context: CliContext): void {
  const direct = site.proxy && effectiveNoProxy(site)
  if (context.json) {
    const document = { ...(output === undefined ? { installConfig: shown } : { output }), noProxy: direct, findings }
    context.stdout(`${JSON.stringify(document)}\n`)
    return
  }
  if (findings.length > 0) context.stderr(renderConfigFindings({ files: 1, findings }))
  if (direct) context.stderr(`reached without the proxy: ${direct.join(', ')}\n`)
  context.stdout(output === undefined ? shown : `${output} is written\n`)
}

async function sourceOf(options: Options, directory: string, { cwd }: CliContext): Promise<MaterialSource> {
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(cwd, path))
  const files = options.mirrors?.map((path) => resolve(cwd, path))
  return {
    directory,
    version: options.release,
    mirrorAuthFile: at(options.mirrorAuth),
    mirrorCaFile: at(options.mirrorCa),
    mirrorSources: files && (await mirrorSourcesOf(files)),
  }
}

/** install-config has mirrors by digest only. */
async function mirrorSourcesOf(files: readonly string[]): Promise<readonly MirrorEntry[]> {
  const sets = await Promise.all(files.map(async (file) => parseImageMirrorSets(await readTextFile(file), file)))
  const entries = sets.flat().flatMap(({ kind, entries: list }) => (kind === 'ImageTagMirrorSet' ? [] : list))
  if (entries.length > 0) return entries
  throw new KnownError('CONFIG_INVALID', `no mirror by digest in ${files.join(', ')}`, {
    hint: 'Name files with an ImageDigestMirrorSet, such as idms-oc-mirror.yaml.',
  })
}
