/**
 * A patch as a config of its own, to be merged after the one that it changes.
 *
 * Merging goes field by field, and a field that the overlay does not say stays as it was (coreos/ignition
 * `config/merge/merge.go`): so that `compression` and the hash of what was there must be overridden, and what was
 * appended to a file cannot be taken away.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { File, IgnitionConfig, Unit } from '../config.ts'
import { hashLike, newFileEntry } from './file-entry.ts'
import { hasKernelArguments } from './kernel-arguments.ts'
import type { PatchChanges, PatchedFile, PatchedUnit } from './patch.ts'
import { patchConflicts } from './patch-conflicts.ts'

export interface Overlay {
  readonly config: IgnitionConfig
  /** With an error among them the overlay must not be used. */
  readonly findings: readonly Finding[]
}

/**
 * @param base the config that the overlay is merged into
 */
export function overlayOf(base: IgnitionConfig, changes: PatchChanges): Overlay {
  const { version } = base.ignition
  const entries = new Map((base.storage?.files ?? []).map((file) => [file.path, file]))
  const { files, units, kernelArguments } = changes
  const isWithArguments = kernelArguments !== undefined && hasKernelArguments(version)
  return {
    config: {
      ignition: { version },
      ...(isWithArguments && { kernelArguments }),
      ...(files.length > 0 && { storage: { files: files.map((file) => overlayFile(file, entries.get(file.path))) } }),
      ...(units.length > 0 && { systemd: { units: units.map(overlayUnit) } }),
    },
    findings: [
      ...patchConflicts(base, changes),
      ...files.flatMap(({ path }) => cannotOverlay(entries.get(path)) ?? []),
    ],
  }
}

function overlayFile(file: PatchedFile, before: File | undefined): File {
  const { contents, ...entry } = newFileEntry(file)
  const { compression, verification } = before?.contents ?? {}
  const hash = verification?.hash
  return {
    ...entry,
    contents: {
      ...contents,
      ...(compression && { compression: '' }),
      ...(hash && { verification: { hash: hashLike(hash, file.contents) } }),
    },
  }
}

function overlayUnit({ dropins, ...unit }: PatchedUnit): Unit {
  return { ...unit, ...(dropins.length > 0 && { dropins }) }
}

function cannotOverlay(before: File | undefined): Finding | undefined {
  if (before === undefined) return undefined
  const why =
    (before.append ?? []).length > 0
      ? 'is appended to in the config, and an overlay cannot take away what is appended'
      : (before.contents?.httpHeaders ?? []).length > 0
        ? 'is fetched with HTTP headers, which an overlay cannot take away'
        : undefined
  if (why === undefined) return undefined
  return finding({
    id: 'ignition.patch-overlay',
    severity: 'error',
    summary: `${before.path} ${why}`,
    remedy: 'Patch the config itself: -o OUT instead of --overlay. Nothing was written.',
  })
}
