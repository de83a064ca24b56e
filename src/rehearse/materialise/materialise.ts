/**
 * What a config would make of a machine, made in a directory: accounts, then directories, files and links, then units.
 *
 * The same tree as `ignition-apply` makes. What a directory cannot have (disks, filesystems, kernel arguments) is told and left
 * out; users and groups, which `ignition-apply` refuses, are made as Ignition makes them on a machine. There is no
 * `/etc/.ignition-result.json`, and nothing is labelled for SELinux, as with `ignition-apply`.
 *
 * Source: coreos/ignition `internal/apply/apply.go`, `internal/exec/stages/files/files.go`.
 */
import { mkdir, readdir } from 'node:fs/promises'
import { type Finding, finding } from '../../errors/finding.ts'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import { type FetchResource, refuseRemote, renderConfig } from '../../ignition/render-config.ts'
import { diskError } from '../../store/disk.ts'
import { makeAccounts } from './accounts.ts'
import { enableUnit } from './enabled-units.ts'
import { loadFiles } from './loaded-file.ts'
import { ModesAtLast } from './modes-at-last.ts'
import { Owners } from './owners.ts'
import { RootedTree } from './rooted-tree.ts'
import { makeNodes } from './storage-nodes.ts'
import { makeUnits } from './systemd-units.ts'

export interface MaterialiseOptions {
  /** `ignore`: everything belongs to who makes it, as it must where that is not root. */
  readonly owners: 'apply' | 'ignore'
  /** True where something may be in the directory already. */
  readonly isIntoExisting?: boolean
  /** True for the links of [Install] too, which systemd makes when the machine starts for the first time. */
  readonly areUnitsEnabled?: boolean
  /** For what is not in the config itself. Default: refused. */
  readonly fetch?: FetchResource
  readonly signal: AbortSignal
}

export interface Materialised {
  readonly root: string
  readonly files: number
  readonly directories: number
  readonly links: number
  readonly units: number
  readonly users: number
  readonly groups: number
  /** Of all files together. */
  readonly sizeBytes: number
  /** What a directory cannot have, and units that could not be enabled. */
  readonly findings: readonly Finding[]
}

/**
 * Everything that the config needs is read and proven before the first file is written.
 *
 * @param config with or without children: they are merged first
 * @param root an absolute path; made where it is not there
 * @throws KnownError IGNITION_INVALID, IGNITION_REMOTE, FILE_EXISTS, FILE_UNWRITABLE, DISK_FULL
 */
export async function materialise(
  config: IgnitionConfig,
  root: string,
  options: MaterialiseOptions,
): Promise<Materialised> {
  const { fetch = refuseRemote, signal } = options
  const rendered = await renderConfig(config, fetch)
  const loaded = await loadFiles(rendered, fetch)
  try {
    await openRoot(root, options.isIntoExisting === true)
    const tree = new RootedTree(root)
    const owners = new Owners(tree, { isIgnored: options.owners === 'ignore' })
    const shop = { tree, owners, modes: new ModesAtLast(tree, rendered.ignition.version), signal }
    await makeAccounts(rendered.passwd, shop)
    await makeNodes(rendered, loaded, shop)
    const units = rendered.systemd?.units ?? []
    await makeUnits(units, shop)
    const unlinked = options.areUnitsEnabled === true ? await enableUnits(rendered, tree) : []
    await shop.modes.finish()
    return {
      root,
      files: loaded.length,
      directories: rendered.storage?.directories?.length ?? 0,
      links: rendered.storage?.links?.length ?? 0,
      units: units.length,
      users: rendered.passwd?.users?.length ?? 0,
      groups: rendered.passwd?.groups?.length ?? 0,
      sizeBytes: loaded.reduce((sum, { contents, append }) => sum + bytesOf([contents, ...append]), 0),
      findings: [...leftOut(rendered), ...unlinked],
    }
  } catch (cause) {
    throw writeError(root, cause)
  }
}

function bytesOf(parts: readonly (Uint8Array | undefined)[]): number {
  return parts.reduce((sum, part) => sum + (part?.byteLength ?? 0), 0)
}

async function openRoot(root: string, isIntoExisting: boolean): Promise<void> {
  await mkdir(root, { recursive: true })
  if (isIntoExisting || (await readdir(root)).length === 0) return
  throw new KnownError('FILE_EXISTS', `${root} is not empty`, {
    details: { file: root },
    hint: 'Name an empty directory, or one that is not there; --into-existing writes into what is there, as Ignition writes into the image of a system.',
  })
}

async function enableUnits(config: IgnitionConfig, tree: RootedTree): Promise<readonly Finding[]> {
  const why = {
    absent: 'the directory has no such unit: on the machine it comes with the operating system',
    masked: 'it is masked',
    'without-install': 'it has no [Install] section',
  }
  const findings: Finding[] = []
  for (const { name, enabled } of config.systemd?.units ?? []) {
    const outcome = enabled === true ? await enableUnit(tree, name) : 'enabled'
    if (outcome === 'enabled') continue
    const summary = `${name} is to be enabled, and has no links: ${why[outcome]}`
    findings.push(finding({ id: `ignition.unit-${outcome}`, severity: 'info', summary }))
  }
  return findings
}

function leftOut({ storage, kernelArguments }: IgnitionConfig): readonly Finding[] {
  const parts = {
    disks: storage?.disks,
    RAID: storage?.raid,
    filesystems: storage?.filesystems,
    'LUKS volumes': storage?.luks,
    'kernel arguments': [...(kernelArguments?.shouldExist ?? []), ...(kernelArguments?.shouldNotExist ?? [])],
  }
  const named = Object.entries(parts).filter(([, list]) => list !== undefined && list.length > 0)
  if (named.length === 0) return []
  const summary = `a directory has no ${named.map(([name]) => name).join(', ')}: what the config says of them is left out`
  return [finding({ id: 'ignition.not-materialised', severity: 'info', summary })]
}

function writeError(root: string, cause: unknown): unknown {
  const codes = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'EINVAL']
  if (!hasSystemCode(cause, ...codes)) return diskError(cause, root)
  const details = { file: root }
  return new KnownError('FILE_UNWRITABLE', `${root} cannot be written: ${cause.message}`, { details, cause })
}
