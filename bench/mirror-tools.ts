/** How each tool is told to copy the same images from one registry to another. */
import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { peer } from '../testkit/peers.ts'
import type { Cleanups } from './measure.ts'

export interface Job {
  readonly directory: string
  readonly source: string
  readonly target: string
  /** Path of the repository and digest of every image, and the name it gets. */
  readonly images: readonly { readonly repository: string; readonly digest: string; readonly name: string }[]
  /** Pull spec of the release image, for Sallyport, which finds the others by itself. */
  readonly release: string
}

export interface Tool {
  readonly name: string
  /** True for how the tool's own documentation copies a list; false for what a user adds to make it faster. */
  readonly isPlain: boolean
  prepare(job: Job): Promise<{ command: readonly string[]; env?: Record<string, string> }>
}

const bundle = new URL('../dist/sallyport.js', import.meta.url).pathname

/** The bundle finds its Node.js on the PATH, as for a user: here the one that runs the benchmark. */
export const nodeFirst = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }

export const sallyport: Tool = {
  name: 'sallyport mirror',
  isPlain: true,
  async prepare({ directory, source, target, release }) {
    const config = join(directory, 'isc.yaml')
    const registries = join(directory, 'registries.conf')
    await writeFile(
      config,
      `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  platform:\n    release: ${release}\n`,
    )
    await writeFile(
      registries,
      `[[registry]]\nlocation = "quay.io"\nblocked = true\n[[registry.mirror]]\nlocation = "${source}"\ninsecure = true\n`,
    )
    const workspace = join(directory, `workspace-${target.replace(':', '-')}`)
    const flags = ['--registries-conf', registries, '--dest-tls-verify=false', '--workspace', workspace]
    return {
      command: [bundle, 'mirror', '-c', config, '--ignore-release-signature', ...flags, `docker://${target}/ocp`],
      env: nodeFirst,
    }
  },
}

const skopeo: Tool = {
  name: 'skopeo sync',
  isPlain: true,
  async prepare({ directory, source, target, images }) {
    const file = join(directory, 'sync.yaml')
    const repositories = Map.groupBy(images, ({ repository }) => repository)
    const lines = [...repositories].flatMap(([repository, all]) => [
      `    ${repository}:`,
      ...[...new Set(all.map(({ digest }) => digest))].map((digest) => `      - "${digest}"`),
    ])
    await writeFile(file, `${source}:\n  tls-verify: false\n  images:\n${lines.join('\n')}\n`)
    return {
      command: [
        'skopeo',
        'sync',
        '--src',
        'yaml',
        '--dest',
        'docker',
        '--dest-tls-verify=false',
        file,
        `${target}/ocp`,
      ],
    }
  },
}

function perImage(name: string, parallel: number, copy: string): Tool {
  return {
    name: parallel === 1 ? `${name}, one after the other` : `${name}, ${parallel} at a time (xargs -P)`,
    isPlain: parallel === 1,
    async prepare({ directory, source, target, images }) {
      const file = join(directory, 'images.txt')
      const lines = images.map(
        (image) => `${source}/${image.repository}@${image.digest} ${target}/ocp/openshift/release:${image.name}`,
      )
      await writeFile(file, `${lines.join('\n')}\n`)
      const config = join(directory, 'regctl.json')
      const host = (address: string) => `"${address}":{"tls":"disabled","hostname":"${address}"}`
      await writeFile(config, `{"hosts":{${host(source)},${host(target)}}}`)
      const script = `exec xargs -P${parallel} -L1 sh -c '${copy}' < ${file}`
      const path = `${process.env['PATH']}:${join(homedir(), 'go', 'bin')}`
      return { command: ['sh', '-c', script], env: { PATH: path, REGCTL_CONFIG: config } }
    },
  }
}

const copies = {
  crane: 'crane copy --insecure "$0" "$1"',
  'regctl image copy': 'regctl image copy "$0" "$1" >/dev/null',
  'oras cp': 'oras cp --from-plain-http --to-plain-http "$0" "$1" >/dev/null',
}

const regsync: Tool = {
  name: 'regsync, parallel: 4',
  isPlain: false,
  async prepare({ directory, source, target, images }) {
    const file = join(directory, 'regsync.yml')
    const registry = (address: string) => `  - {registry: "${address}", tls: disabled}\n`
    const entries = images.map(
      ({ repository, digest, name }) =>
        `  - {source: "${source}/${repository}@${digest}", target: "${target}/ocp/openshift/release:${name}", type: image}\n`,
    )
    await writeFile(
      file,
      `version: 1\ncreds:\n${registry(source)}${registry(target)}defaults: {parallel: 4}\nsync:\n${entries.join('')}`,
    )
    return { command: [join(homedir(), 'go', 'bin', 'regsync'), 'once', '-c', file] }
  },
}

export const peers: readonly Tool[] = [
  skopeo,
  ...Object.entries(copies).map(([name, copy]) => perImage(name, 1, copy)),
  ...Object.entries(copies).map(([name, copy]) => perImage(name, 4, copy)),
  regsync,
]

/** @throws Error for the first peer that is not installed */
export function requirePeers(t: Pick<Cleanups, 'skip'>): void {
  for (const name of ['docker-registry', 'skopeo', 'crane', 'regctl', 'regsync', 'oras'] as const) peer(t, name)
}
