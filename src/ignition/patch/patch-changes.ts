/** From what a patch says to the files, units and kernel arguments that it comes to. */
import { type Finding, finding } from '../../errors/finding.ts'
import { chronyFile, proxyFiles } from './host-settings.ts'
import { hostsFile } from './hosts-file.ts'
import type { FilePatch, IgnitionPatch, PatchChanges, PatchedFile, RegistriesDropIn, WorkedOut } from './patch.ts'
import { trustAnchorFiles } from './trust-anchors.ts'
import { patchedUnits } from './unit-changes.ts'

export interface WorkedOutPatch {
  readonly changes: PatchChanges
  /** With an error among them nothing may be written. */
  readonly findings: readonly Finding[]
}

export const registriesDropInDirectory = '/etc/containers/registries.conf.d'

/** The same patch gives the same changes in the same order, whatever it is for. */
export function workOutPatch(patch: IgnitionPatch, now: Date): WorkedOutPatch {
  const parts: readonly WorkedOut[] = [
    trustAnchorFiles(patch.trust ?? [], now),
    ...(patch.hosts && patch.hosts.length > 0 ? [hostsFile(patch.hosts)] : []),
    ...(patch.chrony ? [chronyFile(patch.chrony.servers)] : []),
    registriesFiles(patch.registries ?? []),
    ...(patch.proxy ? [proxyFiles(patch.proxy)] : []),
    plainFiles(patch.files ?? []),
  ]
  const files = parts.flatMap((part) => part.files)
  const { units, findings } = patchedUnits(patch)
  const { kernelArguments } = patch
  return {
    changes: { files, units, ...(kernelArguments && { kernelArguments }) },
    findings: [...parts.flatMap((part) => part.findings), ...twice(files), ...findings],
  }
}

/** 0644: the services that read it are not all root, and a private one broke rpm-ostree (openshift/installer pull 6789). */
function registriesFiles(dropIns: readonly RegistriesDropIn[]): WorkedOut {
  const files = dropIns.map(({ fileName, text }) => ({
    path: `${registriesDropInDirectory}/${fileName}`,
    mode: 0o644,
    contents: Buffer.from(text),
    part: 'registries' as const,
  }))
  return { files, findings: [] }
}

function plainFiles(files: readonly FilePatch[]): WorkedOut {
  return {
    files: files.map((file) => ({ ...file, mode: file.mode ?? 0o644, part: 'files' })),
    findings: files.flatMap(({ path }) => judgePath(path) ?? []),
  }
}

/** As Ignition wants it: coreos/ignition `config/v3_6/types/path.go:validatePath`. */
function judgePath(path: string): Finding | undefined {
  if (!path.startsWith('/')) return invalid(`files: ${path} is not absolute`)
  const isSimple =
    path !== '/' &&
    path
      .slice(1)
      .split('/')
      .every((part) => !['', '.', '..'].includes(part))
  return isSimple ? undefined : invalid(`files: ${path} is not the shortest way to write that path`)
}

function twice(files: readonly PatchedFile[]): readonly Finding[] {
  return [...Map.groupBy(files, ({ path }) => path)].flatMap(([path, same]) => {
    const parts = [...new Set(same.map(({ part }) => part))].join(' and ')
    return same.length > 1 ? [invalid(`${path} is written ${same.length} times by this patch (${parts})`)] : []
  })
}

function invalid(summary: string): Finding {
  const remedy = 'Correct it in the patch; nothing was written.'
  return finding({ id: 'ignition.patch-path', severity: 'error', summary, remedy })
}
