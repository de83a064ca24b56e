/** What of a config a patch cannot be written beside: Ignition would refuse the result, or it would not do what was meant. */
import { type Finding, finding } from '../../errors/finding.ts'
import type { IgnitionConfig, Unit } from '../config.ts'
import type { PatchChanges, PatchedUnit } from './patch.ts'

const unitDirectory = '/etc/systemd/system'

/**
 * Sources: coreos/ignition `config/v3_6/types/storage.go:Validate` (links in the way), `config.go:Validate` (paths of
 * units), `config/util/keys.go` (one entry for a path, whatever it is).
 */
export function patchConflicts(config: IgnitionConfig, changes: PatchChanges): readonly Finding[] {
  const links = config.storage?.links ?? []
  const directories = config.storage?.directories ?? []
  const unitPaths = new Set([...(config.systemd?.units ?? []), ...changes.units].flatMap(pathsOf))
  const written = new Set([...(config.storage?.files ?? []), ...links, ...directories].map(({ path }) => path))
  const allFiles = [...(config.storage?.files ?? []), ...changes.files].map(({ path }) => path)
  const files = changes.files.flatMap(({ path }) => {
    const link = links.find((one) => path === one.path || path.startsWith(`${one.path}/`))
    if (link !== undefined) return [conflict(`${path} would be written through ${link.path}, a link of the config`)]
    if (directories.some((one) => one.path === path)) return [conflict(`${path} is a directory in the config`)]
    const above = allFiles.find((one) => path.startsWith(`${one}/`))
    if (above !== undefined) return [conflict(`${path} would be below ${above}, which is a file`)]
    return unitPaths.has(path) ? [conflict(`${path} is written by a unit or drop-in too`)] : []
  })
  const units = changes.units.flatMap(pathsOf).filter((path) => written.has(path))
  return [...files, ...units.map((path) => conflict(`${path} is written by storage too`))]
}

function pathsOf({ name, contents, dropins }: Unit | PatchedUnit): readonly string[] {
  const parts = (dropins ?? []).filter((dropin) => dropin.contents)
  return [
    ...(contents ? [`${unitDirectory}/${name}`] : []),
    ...parts.map((dropin) => `${unitDirectory}/${name}.d/${dropin.name}`),
  ]
}

function conflict(summary: string): Finding {
  const remedy = 'Change it where it is written now, or give what the patch writes another name; nothing was written.'
  return finding({ id: 'ignition.patch-conflict', severity: 'error', summary, remedy })
}
