/** Registries that allow only so many components in the path of a repository. Pure. */
import { KnownError } from '../errors/known-error.ts'
import type { MirrorTarget } from './destination.ts'

/**
 * `path` with at most `max` components: those beyond are joined to the last with `-`, as oc-mirror does
 * (openshift/oc-mirror `internal/pkg/image/image.go:WithMaxNestedPaths`). 0 leaves it as it is.
 */
export function foldPath(path: string, max: number): string {
  const components = path.split('/')
  if (max === 0 || components.length <= max) return path
  return [...components.slice(0, max - 1), components.slice(max - 1).join('-')].join('/')
}

/**
 * The target with a limit on the depth of its repositories; 0 is none.
 *
 * @throws KnownError USAGE where its own path leaves no component for what is put below it
 */
export function withMaxNestedPaths(target: MirrorTarget, max: number): MirrorTarget {
  if (max === 0) return target
  const depth = target.path === '' ? 0 : target.path.split('/').length
  if (depth < max) return { ...target, maxNestedPaths: max }
  throw new KnownError(
    'USAGE',
    `--max-nested-paths ${max} leaves no room below ${target.path}, which has ${depth} itself`,
    {
      details: { path: target.path, depth, maxNestedPaths: max },
      hint: `Allow at least ${depth + 1}, or mirror to a shorter path.`,
    },
  )
}
