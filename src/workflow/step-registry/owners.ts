/** Who answers for a part of the registry: `.metadata.json` beside it, or the nearest OWNERS above. */
import { dirname, join } from 'node:path'
import { readMaybeGzip } from './registry-files.ts'
import { readYaml } from './registry-yaml.ts'

export interface Owners {
  readonly approvers: readonly string[]
  readonly reviewers: readonly string[]
  /** The file that says so. */
  readonly file: string
}

/** undefined where nobody is named up to the root. */
export function ownersOf(file: string, root: string): Owners | undefined {
  const metadata = file.replace(/\.yaml$/, '.metadata.json')
  const fromMetadata = ownersIn(metadata, (value) => (value as { owners?: unknown } | null)?.owners)
  if (fromMetadata) return fromMetadata
  for (let folder = dirname(file); folder.length >= root.length; folder = dirname(folder)) {
    const found = ownersIn(join(folder, 'OWNERS'), (value) => value)
    if (found || folder === dirname(folder)) return found
  }
  return undefined
}

function ownersIn(file: string, pick: (value: unknown) => unknown): Owners | undefined {
  const text = readMaybeGzip(file)
  if (text === undefined) return undefined
  // JSON is YAML.
  const read = readYaml(text)
  const owners = ('value' in read ? pick(read.value) : undefined) as Readonly<Record<string, unknown>> | undefined
  if (typeof owners !== 'object' || owners === null) return undefined
  return { approvers: names(owners['approvers']), reviewers: names(owners['reviewers']), file }
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
