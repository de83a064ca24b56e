/**
 * Fields that the format had once: what they meant, and what says it now.
 *
 * Source: openshift/oc-mirror `v1/pkg/api/v1alpha1`, `v1/pkg/api/v1alpha2` and the history of `v1/docs/examples`.
 */
import type * as z from 'zod'
import { entriesOf, fieldOf } from './loose-values.ts'
import type { ValuePath } from './yaml-nodes.ts'

/** What to write instead of a field that no version of the format has any longer, or that others have. */
export const fieldAdvice: Readonly<Record<string, string>> = {
  spec: 'this is no Kubernetes object: write mirror and archiveSize at the top level, without spec',
  metadata: 'an image set has no name and no labels; take it out',
  ocp: 'v1alpha1 called so what is now mirror.platform',
  versions: 'v1alpha1 had it; write minVersion and maxVersion',
  headsOnly: 'v1alpha1 had it; the opposite, full, is what is written now (headsOnly: false is full: true)',
  allPackages: 'it was never part of a released format; leave packages out to get all of them',
  skipDeps: 'v1alpha1 had it; dependencies are not resolved now, so take it out',
  startingVersion: 'v1alpha1 had it; write minVersion',
  startingBundle: 'v1alpha1 had it; write minVersion',
  pullSecret: 'v1alpha1 had it; keep the secret out of this file and name its file with --authfile',
  repos: 'v1alpha1 had it; write repositories',
  mirror: 'what is to be deleted stands under delete',
  delete:
    'what is to be mirrored stands under mirror; deleting has a file of its own, of kind DeleteImageSetConfiguration',
  blockedImages: 'only what is mirrored can be blocked',
  archiveSize: 'nothing is archived when images are deleted',
}

/** The fields of v1alpha2 that v2alpha1 has no longer, and what to do about each. */
export const formerInV2 = {
  storageConfig: 'it has no effect, history is kept in the workspace (--workspace); take it out',
  targetName: 'write targetCatalog, which also takes the path before the name',
  originalRef: 'it has no effect; take it out',
  minBundle: 'write minVersion, the version of that bundle',
} as const

interface FormerField {
  /** From the top of the file. */
  readonly path: ValuePath
  readonly field: keyof typeof formerInV2
}

interface ImageSetParts {
  /** The whole file, as it was read. */
  readonly configuration: unknown
  /** The section that holds `operators`. */
  readonly section: 'mirror' | 'delete'
}

/** Where a file uses what v2alpha1 has no longer. */
export function formerFields({ configuration, section }: ImageSetParts): FormerField[] {
  const isThere = ({ path, field }: FormerField, holder: unknown) =>
    fieldOf(holder, field) === undefined ? [] : [{ path, field }]
  const catalogs = entriesOf(fieldOf(configuration, section), 'operators').flatMap((catalog, index) => {
    const path: ValuePath = [section, 'operators', index]
    return [
      ...isThere({ path: [...path, 'targetName'], field: 'targetName' }, catalog),
      ...isThere({ path: [...path, 'originalRef'], field: 'originalRef' }, catalog),
      ...rangeHolders(catalog).flatMap(({ at, holder }) =>
        isThere({ path: [...path, ...at, 'minBundle'], field: 'minBundle' }, holder),
      ),
    ]
  })
  return [...isThere({ path: ['storageConfig'], field: 'storageConfig' }, configuration), ...catalogs]
}

/** The packages of a catalog, and their channels: what may have a range. */
function rangeHolders(catalog: unknown): { at: ValuePath; holder: unknown }[] {
  return entriesOf(catalog, 'packages').flatMap((named, index) => [
    { at: ['packages', index], holder: named },
    ...entriesOf(named, 'channels').map((holder, of) => ({ at: ['packages', index, 'channels', of], holder })),
  ])
}

/** `full` beside a version range: oc-mirror v2 fails on it once it has pulled the catalog; v1 took the range. */
export function rangesBesideFull({ configuration, section }: ImageSetParts): ValuePath[] {
  return entriesOf(fieldOf(configuration, section), 'operators').flatMap((catalog, index) => {
    const hasRange = rangeHolders(catalog).some(
      ({ holder }) => fieldOf(holder, 'minVersion') !== undefined || fieldOf(holder, 'maxVersion') !== undefined,
    )
    return fieldOf(catalog, 'full') === true && hasRange ? [[section, 'operators', index, 'full']] : []
  })
}

/** Refuses in v2alpha1, and where no version is named, what only the older formats have. */
export function checkFormerFields(parts: ImageSetParts, context: z.RefinementCtx): void {
  const apiVersion = fieldOf(parts.configuration, 'apiVersion')
  if (apiVersion !== undefined && !String(apiVersion).endsWith('/v2alpha1')) return
  for (const { path, field } of formerFields(parts)) {
    const message = `v2alpha1 has no ${field}; ${formerInV2[field]}`
    context.addIssue({ code: 'custom', path: [...path], message })
  }
  for (const path of rangesBesideFull(parts)) {
    const message = 'full: true excludes minVersion and maxVersion of the packages; take full out to get the ranges'
    context.addIssue({ code: 'custom', path: [...path], message })
  }
}
