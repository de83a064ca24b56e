/** `ignition apply`: write what a config would make of a machine into a directory. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { finding } from '../../errors/finding.ts'
import { readValidConfig } from '../../ignition/valid-config.ts'
import { materialise } from '../../rehearse/materialise/materialise.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { addFetchOptions, type FetchOptions, withFetch } from '../ignition-fetch.ts'
import { renderMaterialised } from '../render/ignition-apply.ts'

interface Options extends FetchOptions {
  root: string
  intoExisting?: boolean
  owners: boolean
  enableUnits?: boolean
}

const details = `
The same tree as ignition-apply makes: directories, files (decompressed, and proven where they have a hash), links, units with
drop-ins and masks, and the preset file that says which units are enabled; configs that it merges or that replace it come first.
Links in DIR are followed inside of DIR, absolute ones from DIR: nothing outside of it is written.
It goes further in two things: users and groups, which ignition-apply refuses, are written into DIR/etc as useradd would write
them, with homes and SSH keys; and with --enable-units the links of [Install] are made, as systemd makes them when a machine
starts for the first time. As with ignition-apply there is no /etc/.ignition-result.json and no SELinux label; disks, file systems
and kernel arguments are left out, and told.
Owners are set where this is root; their names are looked up in DIR/etc/passwd and DIR/etc/group.
The config is checked, and all its parts are read and proven, before the first file is written.
Exit status: 0; 1 where something is in the way, or is elsewhere; 78 where the config is not valid.

Examples:
  sallyport ignition apply bootstrap.ign --root /tmp/bootstrap
  sallyport ignition apply worker.ign --root /tmp/worker --fetch --ca root-ca.crt
  sallyport ignition apply extra.ign --root /mnt/image --into-existing --enable-units`

export function defineApply(command: Command, host: CommandHost): void {
  command
    .summary('write what a config would make of a machine into a directory')
    .description(
      'Writes the files, directories, links, units, users and groups of an Ignition config into a directory.',
    )
    .argument('<file>', 'a config of specification 2.x or 3.x')
    .requiredOption('--root <dir>', 'the directory that stands for /; it must be empty, or not there')
    .option('--into-existing', 'write into what is there, as Ignition does with the image of a system')
    .option('--no-owners', 'leave everything with the user who runs this')
    .option('--enable-units', 'make the links of enabled units too')
  addFetchOptions(command)
    .addHelpText('after', details)
    .action(async (file: string, options: Options) => {
      host.done(await apply(file, options, host.context()))
    })
}

async function apply(name: string, options: Options, context: CliContext): Promise<number> {
  const { cwd, json, signal, stdout } = context
  const { config } = readValidConfig(await readTextFile(resolve(cwd, name)), name)
  const isRoot = process.getuid?.() === 0
  const made = await withFetch(options, context, (fetch) =>
    materialise(config, resolve(cwd, options.root), {
      owners: isRoot && options.owners ? 'apply' : 'ignore',
      isIntoExisting: options.intoExisting === true,
      areUnitsEnabled: options.enableUnits === true,
      fetch,
      signal,
    }),
  )
  const summary = 'owners are left out: only root can give files away'
  const ownersLeftOut = finding({ id: 'ignition.owners-left-out', severity: 'info', summary })
  const findings = [...made.findings, ...(isRoot || !options.owners ? [] : [ownersLeftOut])]
  const result = { ...made, findings }
  stdout(json ? `${JSON.stringify(result)}\n` : renderMaterialised(result))
  return 0
}
