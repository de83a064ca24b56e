/** The flags that say the same as a patch file. */

import { basename, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { PatchSource } from '../config/ignition-patch.ts'
import type { IgnitionPatchFile } from '../config/ignition-patch-schema.ts'
import { readTextFile } from '../config/yaml-document.ts'
import { collect } from './repeated-values.ts'

type Pair = readonly [name: string, value: string]

export interface PatchFlags {
  name?: string
  trust?: string[]
  host?: Pair[]
  ntp?: string[]
  registries?: string[]
  unit?: string[]
  dropin?: Pair[]
  file?: Pair[]
  httpProxy?: string
  httpsProxy?: string
  proxyExcept?: string[]
  karg?: string[]
  kargDelete?: string[]
}

export function addPatchFlags(command: Command): Command {
  return command
    .option('--trust <file>', 'a CA in PEM to trust; again for another', collect)
    .option('--host <name=address>', 'a line of /etc/hosts; again for another', collectPair)
    .option('--ntp <server>', 'a time server; again for another', collect)
    .option('--registries <file>', 'a drop-in of registries.conf; again for another', collect)
    .option('--unit <file>', 'a systemd unit, enabled where it has [Install]; again for another', collect)
    .option('--dropin <unit=file>', 'a drop-in of a unit; again for another', collectPair)
    .option('--file <path=file[:mode]>', 'a file of the host, and what goes into it; again for another', collectPair)
    .option('--http-proxy <url>', 'the proxy of the bootstrap host')
    .option('--https-proxy <url>', 'the same for https')
    .option('--proxy-except <name>', 'a domain or network that is asked without a proxy; again for another', collect)
    .option('--karg <argument>', 'a kernel argument; again for another', collect)
    .option('--karg-delete <argument>', 'a kernel argument to take away; again for another', collect)
    .option('--name <name>', 'the name of the MachineConfigs; default: of the patch file, or patch', readName)
}

/**
 * Undefined where no flag asks for anything.
 *
 * @throws KnownError FILE_UNREADABLE
 */
export async function patchSourceOf(flags: PatchFlags, cwd: string): Promise<PatchSource | undefined> {
  const document = { ...(flags.name !== undefined && { name: flags.name }), ...(await documentOf(flags, cwd)) }
  return Object.keys(document).length === 0 ? undefined : { document, directory: cwd }
}

async function documentOf(flags: PatchFlags, cwd: string): Promise<IgnitionPatchFile> {
  const { trust = [], host = [], ntp = [], registries = [], unit = [], dropin = [], file = [] } = flags
  const { httpProxy, httpsProxy, proxyExcept = [], karg = [], kargDelete = [] } = flags
  const hasProxy = httpProxy !== undefined || httpsProxy !== undefined || proxyExcept.length > 0
  return {
    ...(trust.length > 0 && { trust }),
    ...(host.length > 0 && { hosts: Object.fromEntries(host) }),
    ...(ntp.length > 0 && { chrony: { servers: ntp } }),
    ...(registries.length > 0 && { registries }),
    ...(unit.length > 0 && { units: await Promise.all(unit.map((path) => unitOf(path, cwd))) }),
    ...(dropin.length > 0 && { dropins: dropin.map(([of, path]) => ({ unit: of, name: basename(path), file: path })) }),
    ...(file.length > 0 && { files: file.map(fileOf) }),
    ...(hasProxy && { proxy: { httpProxy, httpsProxy, ...(proxyExcept.length > 0 && { noProxy: proxyExcept }) } }),
    ...(karg.length + kargDelete.length > 0 && {
      kernelArguments: { shouldExist: karg, shouldNotExist: kargDelete },
    }),
  }
}

async function unitOf(path: string, cwd: string): Promise<NonNullable<IgnitionPatchFile['units']>[number]> {
  const text = await readTextFile(resolve(cwd, path))
  return { name: basename(path), file: path, ...(/^\[Install\]/m.test(text) && { enabled: true }) }
}

function fileOf([path, value]: Pair): NonNullable<IgnitionPatchFile['files']>[number] {
  const [, file = value, mode] = /^(.+):(0?[0-7]{3})$/.exec(value) ?? []
  return { path, file, ...(mode !== undefined && { mode }) }
}

function collectPair(value: string, before: readonly Pair[] = []): readonly Pair[] {
  const at = value.indexOf('=')
  if (at <= 0) throw new InvalidArgumentError('It has to be NAME=VALUE.')
  return [...before, [value.slice(0, at), value.slice(at + 1)]]
}

function readName(text: string): string {
  if (/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text)) return text
  throw new InvalidArgumentError('Lower-case letters, digits and - only: it names resources.')
}
