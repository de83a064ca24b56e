/** The units of a bootstrap config: those of `systemd.units`, and those that come as files under /etc/systemd/system. */
import type { IgnitionConfig } from '../../ignition/config.ts'
import type { BootstrapFiles } from './bootstrap-file.ts'

export interface BootstrapUnit {
  readonly name: string
  /** Absent where only drop-ins are given, for a unit that the machine has. */
  readonly text?: string
  readonly dropIns: readonly { readonly name: string; readonly path: string; readonly text: string }[]
  /** What the config says; absent: nothing, and what needs it starts it. */
  readonly isEnabled?: boolean
  readonly isMasked: boolean
  /** Where it is on the machine. */
  readonly path: string
  /** True where it is one of `storage.files`. */
  readonly isFile: boolean
}

const unitDirectory = '/etc/systemd/system'
const unitFile =
  /^\/etc\/systemd\/system\/([^/]+\.(?:service|socket|target|mount|timer|path|slice|swap|automount|device|scope))$/
const dropInFile = /^\/etc\/systemd\/system\/([^/]+)\.d\/([^/]+\.conf)$/

/** In the order of the config, those that are files after the others. */
export function readBootstrapUnits(config: IgnitionConfig, files: BootstrapFiles): readonly BootstrapUnit[] {
  const units = new Map<string, BootstrapUnit>()
  for (const { name, contents, enabled, mask, dropins } of config.systemd?.units ?? []) {
    const path = `${unitDirectory}/${name}`
    units.set(name, {
      name,
      ...(contents && { text: contents }),
      dropIns: (dropins ?? []).map((one) => ({
        name: one.name,
        path: `${path}.d/${one.name}`,
        text: one.contents ?? '',
      })),
      ...(typeof enabled === 'boolean' && { isEnabled: enabled }),
      isMasked: mask === true,
      path,
      isFile: false,
    })
  }
  for (const { path, text } of files.values()) {
    const name = unitFile.exec(path)?.[1]
    if (name !== undefined) units.set(name, { ...empty(name), ...units.get(name), text, path, isFile: true })
  }
  for (const { path, text } of files.values()) {
    const [, name, dropIn] = dropInFile.exec(path) ?? []
    if (name === undefined || dropIn === undefined) continue
    const unit = units.get(name) ?? empty(name)
    units.set(name, { ...unit, dropIns: [...unit.dropIns, { name: dropIn, path, text }] })
  }
  return [...units.values()]
}

function empty(name: string): BootstrapUnit {
  return { name, dropIns: [], isMasked: false, path: `${unitDirectory}/${name}`, isFile: true }
}
