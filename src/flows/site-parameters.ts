import { basename } from 'node:path'
import type { LoadedSite } from '../config/site-configuration.ts'
import { formatPath } from '../config/yaml-place.ts'
import type { RunParameter } from './run-definition.ts'

/** What of `sallyport.yaml` the steps of a stage go by, by the number of the stage. */
const sectionsOf: Readonly<Record<string, readonly string[]>> = {
  '01': ['variant', 'platform'],
  '02': ['platform', 'bastion', 'proxy'],
  '03': ['secrets'],
  '04': ['release'],
  '05': ['mirror'],
  '06': ['release', 'mirror'],
  '07': ['name', 'baseDomain', 'cluster', 'mirror', 'proxy'],
  '08': ['platform', 'cluster'],
  '09': ['mirror', 'variant'],
  '10': ['teardown'],
}

type Path = readonly (string | number)[]

/** The fields that a step goes by, each with the line that says so; secrets stand there by name alone. */
export function siteParameters({ site, file }: LoadedSite, step: string): readonly RunParameter[] {
  const sections = sectionsOf[step.slice(0, 2)] ?? []
  return sections.flatMap((section) =>
    leavesOf(site[section as keyof typeof site], [section]).map(({ path, value }) => {
      const by = file.document.hasIn(path) ? `${basename(file.source.file)} line ${file.placeOf(path).line}` : 'default'
      return { name: formatPath(path), value, by }
    }),
  )
}

function leavesOf(value: unknown, path: Path): readonly { readonly path: Path; readonly value: string }[] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null) return [{ path, value: String(value) }]
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((item, index) => [index, item] as const)
    : Object.entries(value)
  return entries.flatMap(([key, item]) => leavesOf(item, [...path, key]))
}
