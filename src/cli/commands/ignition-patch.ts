/** `ignition patch`: change a bootstrap config, make an overlay of the changes, and MachineConfigs for nodes. */
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { loadPatchFile, renderUndo, resolvePatch } from '../../config/ignition-patch.ts'
import { readTextFile } from '../../config/yaml-document.ts'
import { KnownError } from '../../errors/known-error.ts'
import { type PatchOutcome, type PatchWishes, patchIgnition, undoPatch } from '../../flows/patch-ignition.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { type IgnitionFile, readIgnitionFile, writeIgnitionFile } from '../ignition-files.ts'
import { addPatchFlags, type PatchFlags, patchSourceOf } from '../ignition-patch-options.ts'
import { hasErrors, patchDocument, renderPatch, type WrittenFile } from '../render/ignition-patch.ts'

interface Options extends PatchFlags {
  patch?: string
  output?: string
  undo?: string
  overlay?: string
  parent?: string
  bootstrapUrl?: string
  overlayUrl?: string
  ca?: string
  machineConfigs?: string
  roles?: string[]
}

const details = `
A patch file (YAML or JSON) has these parts, and the flags say the same:
  name: lab
  trust: [corporate-ca.pem]                      /etc/pki/ca-trust/source/anchors/corporate-ca.crt
  hosts: {mirror.lab: 192.0.2.10}                /etc/hosts, written whole, with the lines of localhost
  chrony: {servers: [ntp.lab]}                   /etc/chrony.conf
  registries: [lab.conf]                         /etc/containers/registries.conf.d/50-lab.conf
  units: [{name: a.service, file: a.service, enabled: true}]
  dropins: [{unit: crio.service, name: 10-lab.conf, file: 10-lab.conf}]
  files: [{path: /etc/motd.d/lab, mode: "0644", contents: "hello\\n"}]
  proxy: {httpProxy: URL, httpsProxy: URL, noProxy: [lab]}        of the bootstrap host only
  kernelArguments: {shouldExist: [quiet]}        of nodes only, where the config is older than Ignition 3.3
What is not touched stays as it is, byte by byte; a second time nothing changes. Without -o, --overlay, --parent or
--machine-configs nothing is written, and what would change is told. Configs keep the permissions of FILE.
Exit status: 0; 1 where the patch is refused, and then nothing is written; 78 where a file does not load.

Examples:
  sallyport ignition patch bootstrap.ign -p lab.yaml -o bootstrap-lab.ign --undo lab.undo.json
  sallyport ignition patch bootstrap-lab.ign -p lab.undo.json -o bootstrap.ign
  sallyport ignition patch bootstrap.ign --trust ca.pem --host mirror.lab=192.0.2.10 -o bootstrap-lab.ign
  sallyport ignition patch bootstrap.ign -p lab.yaml --machine-configs install/openshift
  sallyport ignition patch bootstrap.ign -p lab.yaml --overlay lab.ign --parent pointer.ign \\
      --bootstrap-url https://web.lab/bootstrap.ign --overlay-url https://web.lab/lab.ign --ca ca.pem`

export function definePatch(command: Command, host: CommandHost): void {
  command
    .summary('add CAs, names, time servers, registries, units, files; in place or as an overlay, and for nodes too')
    .description('Changes an Ignition config by a typed patch that can be undone.')
    .argument('<file>', 'the config: bootstrap.ign')
    .option('-p, --patch <file>', 'the patch, or the undo of one')
  addPatchFlags(command)
    .option('-o, --output <file>', 'where the patched config goes')
    .option('--undo <file>', 'where to keep how it is undone (mode 0600)')
    .option('--overlay <file>', 'write the changes as a config of their own, to be merged after the other')
    .option('--parent <file>', 'write a small config that merges both, the overlay last')
    .option('--bootstrap-url <url>', 'for --parent: where FILE will be served, as it is')
    .option('--overlay-url <url>', 'for --parent: where the overlay will be served (default: it stands in the parent)')
    .option('--ca <file>', 'for --parent: the CA of that server, in PEM')
    .option('--machine-configs <dir>', 'write 99-ROLE-sallyport-NAME.yaml for nodes, for openshift/ of the installer')
    .option('--roles <roles>', 'the roles of --machine-configs (default: master,worker)', readRoles)
    .addHelpText('after', details)
    .action(async (file: string, options: Options) => {
      host.done(await run(file, options, host.context()))
    })
}

async function run(name: string, options: Options, context: CliContext): Promise<number> {
  const { cwd, stdout, json } = context
  const file = await readIgnitionFile(name, cwd)
  const outcome = await outcomeOf(file, options, context)
  const isRefused = hasErrors(outcome.findings)
  const written = isRefused ? [] : await writeAll(outcome, { file, options, cwd })
  const view = { config: name, outcome, written }
  stdout(json ? `${JSON.stringify(patchDocument(view))}\n` : renderPatch(view))
  return isRefused ? 1 : 0
}

async function outcomeOf(file: IgnitionFile, options: Options, { cwd, clock }: CliContext): Promise<PatchOutcome> {
  const loaded = options.patch === undefined ? undefined : await loadPatchFile(resolve(cwd, options.patch))
  const flags = await patchSourceOf(options, cwd)
  if (loaded?.kind === 'undo') {
    const { overlay, parent, machineConfigs } = options
    if (flags !== undefined || (overlay ?? parent ?? machineConfigs) !== undefined)
      throw new KnownError('USAGE', 'An undo stands alone: no other change, no overlay, no MachineConfigs')
    return undoPatch(file, loaded.steps)
  }
  const sources = [...(loaded === undefined ? [] : [loaded.source]), ...(flags === undefined ? [] : [flags])]
  if (sources.length === 0)
    throw new KnownError('USAGE', 'Nothing is asked for', { hint: 'Name a patch with -p, or flags.' })
  return patchIgnition(file, await resolvePatch(sources), await wishesOf(options, { cwd, now: new Date(clock.now()) }))
}

async function wishesOf(options: Options, { cwd, now }: { cwd: string; now: Date }): Promise<PatchWishes> {
  const { overlay, parent, bootstrapUrl, overlayUrl, ca, machineConfigs, roles = ['master', 'worker'] } = options
  if (parent === undefined && (bootstrapUrl ?? overlayUrl ?? ca) !== undefined)
    throw new KnownError('USAGE', '--bootstrap-url, --overlay-url and --ca are for --parent')
  if (parent !== undefined && bootstrapUrl === undefined)
    throw new KnownError('USAGE', '--parent needs --bootstrap-url: where the config will be served')
  if (overlayUrl !== undefined && overlay === undefined)
    throw new KnownError('USAGE', '--overlay-url needs --overlay: the file to serve there')
  const pem = ca === undefined ? undefined : await readTextFile(resolve(cwd, ca))
  return {
    now,
    overlay: overlay !== undefined,
    ...(bootstrapUrl !== undefined && { parent: { bootstrapUrl, overlayUrl, ca: pem } }),
    ...(machineConfigs !== undefined && { roles }),
  }
}

interface Writing {
  readonly file: IgnitionFile
  readonly options: Options
  readonly cwd: string
}

async function writeAll(outcome: PatchOutcome, { file, options, cwd }: Writing): Promise<readonly WrittenFile[]> {
  const { output, undo, overlay, parent, machineConfigs = '.' } = options
  const { mode } = file
  const files: readonly (WrittenFile & { text: string | undefined; mode: number })[] = [
    // First, so that what replaces the config is never there without it.
    ...(undo === undefined ? [] : [{ what: 'undo' as const, path: undo, text: renderUndo(outcome.undo), mode: 0o600 }]),
    ...(output === undefined ? [] : [{ what: 'patched config' as const, path: output, text: outcome.text, mode }]),
    ...(overlay === undefined ? [] : [{ what: 'overlay' as const, path: overlay, text: outcome.overlay, mode }]),
    ...(parent === undefined ? [] : [{ what: 'parent' as const, path: parent, text: outcome.parent, mode }]),
    ...outcome.machineConfigs.map(({ fileName, yaml }) => ({
      what: 'MachineConfig' as const,
      path: join(machineConfigs, fileName),
      text: yaml,
      mode,
    })),
  ]
  for (const { path, text, mode: bits } of files) await writeIgnitionFile(resolve(cwd, path), text ?? '', bits)
  return files.map(({ what, path }) => ({ what, path }))
}

function readRoles(text: string): string[] {
  const roles = text.split(',').map((role) => role.trim())
  const wrong = roles.find((role) => !/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(role))
  if (wrong === undefined) return [...new Set(roles)]
  throw new KnownError('USAGE', `"${wrong}" is no role`, {
    hint: 'Write roles as master,worker, or names of pools of your own.',
  })
}
