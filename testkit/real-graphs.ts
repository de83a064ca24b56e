/** Answers of update services, and graph data, as others published them; what is not on this machine is skipped. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const data = fileURLToPath(new URL('../../shared/data', import.meta.url))
const folders = ['release/graph', 'mirror/oc-mirror/graph']

export const noGraphs = existsSync(join(data, 'release/graph')) ? false : `${data} is not there`

export interface RealAnswer {
  readonly name: string
  readonly bytes: Buffer
}

export function realAnswers(): readonly RealAnswer[] {
  return folders.flatMap((folder) =>
    readdirSync(join(data, folder))
      .filter((name) => name.endsWith('.json'))
      .map((name) => ({ name, bytes: readFileSync(join(data, folder, name)) })),
  )
}

/** The answer for channel stable-4.13 and amd64, of spring 2024. */
export function stable413(): Buffer {
  return readFileSync(join(data, 'mirror/oc-mirror/graph/amd64-stable-4.13.json'))
}

/** openshift/cincinnati-graph-data as it is checked out: text by path. */
export function realGraphData(): ReadonlyMap<string, string> {
  const root = join(data, 'mirror/cincinnati-graph-data')
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(root.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}

/** The same as tar.gz, of several years. */
export function graphDataArchives(): readonly RealAnswer[] {
  const folder = join(data, 'release/graph-data')
  const names = readdirSync(folder).filter((name) => name.endsWith('.tar.gz'))
  return names.map((name) => ({ name, bytes: readFileSync(join(folder, name)) }))
}
