import { cleanPath } from '../go-text.ts'
import { messages } from './messages.ts'

/** Why something is no path that Ignition takes; undefined where it is one (`config/v3_N/types/path.go`). */
export function pathFault(path: string): string | undefined {
  if (path === '') return messages.noPath
  if (!path.startsWith('/')) return messages.relativePath
  return cleanPath(path) === path ? undefined : messages.dirtyPath
}
