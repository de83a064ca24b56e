import type { Finding } from '../../errors/finding.ts'
import type { FieldPath } from './field-shape.ts'
import { readMaybeGzip } from './registry-files.ts'
import { yamlPlaces } from './registry-yaml.ts'

/** Where a field of a file stands. */
export type PlaceOf = (file: string, path: FieldPath) => NonNullable<Finding['where']>

/** A file is read again only where there is something to complain about, and then once. */
export function placesInFiles(): PlaceOf {
  const known = new Map<string, ReturnType<typeof yamlPlaces>>()
  return (file, path) => {
    const places = known.get(file) ?? yamlPlaces(readMaybeGzip(file) ?? '')
    known.set(file, places)
    return { file, ...places(path) }
  }
}
