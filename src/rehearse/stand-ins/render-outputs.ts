/**
 * What a container has to leave behind, so that the script that ran it can go on.
 *
 * Operators render manifests into a folder; the scripts then copy from it. Which files a version renders nobody knows better
 * than its own scripts: every path below that folder which they name is made. What is in them is of no consequence: nobody
 * of the rehearsal reads it. Scripts that put such paths together from variables get what these operators are known to render.
 */
import type { BootstrapFiles } from '../../openshift/bootstrap/bootstrap-file.ts'
import type { ContainerRun } from './podman-arguments.ts'

export interface RenderedOutputs {
  readonly folders: readonly string[]
  readonly files: Readonly<Record<string, string>>
}

/** Paths that the scripts copy from, by their first component: `api-bootstrap` -> `manifests/*`. */
export type NamedPaths = ReadonlyMap<string, ReadonlySet<string>>

/**
 * What operators render, by the folder that bootkube gives them (openshift/installer
 * `data/data/bootstrap/files/usr/local/bin/bootkube.sh.template`, the `cp` after each of them).
 */
const knownOutputs: Readonly<Record<string, readonly string[]>> = {
  'api-bootstrap': ['manifests/*'],
  'auth-api-bootstrap': ['manifests/*'],
  'config-bootstrap': ['manifests/*'],
  'cvo-bootstrap': ['bootstrap/*', 'manifests/*'],
  'etcd-bootstrap': ['etc-kubernetes/*', 'manifests/*', 'tls/*'],
  'kube-apiserver-bootstrap': ['bootstrap-manifests/*', 'manifests/*', 'config'],
  'kube-controller-manager-bootstrap': ['bootstrap-manifests/*', 'manifests/*', 'config', 'cpc-config'],
  'kube-scheduler-bootstrap': ['bootstrap-manifests/*', 'manifests/*', 'config'],
  'ingress-operator-manifests': ['*'],
  'mco-bootstrap': ['bootstrap/manifests/*', 'bootstrap/machineconfigoperator-bootstrap-pod.yaml', 'manifests/*'],
}

const namedPath = /(?<![\w$}/.*-])(?:\.\/|\$\{?PWD\}?\/|\/opt\/openshift\/|\/assets\/)?([\w.-]+)\/([\w.*?/-]+)/g

const copying = /(?:^|[\s;&|(])(?:cp|mv|cat|tar|install)\s+((?:-[-\w=]+\s+)*)/

export function namedPaths(files: BootstrapFiles): NamedPaths {
  const paths = new Map<string, Set<string>>()
  for (const { path, text } of files.values()) {
    if (!path.startsWith('/usr/local/bin/')) continue
    for (const line of text.replaceAll(/["']/g, '').split('\n')) {
      const [isCopying, options = ''] = copying.exec(line) ?? []
      if (isCopying === undefined || /^\s*#/.test(line)) continue
      const isRecursive = /--recursive|-\w*[rRa]/.test(options)
      for (const [, first = '', rest = ''] of line.matchAll(namedPath)) {
        const below = rest.replace(/\/+$/, '')
        const isFolder = isRecursive && !below.includes('*')
        paths.set(first, (paths.get(first) ?? new Set()).add(isFolder ? `${below}/*` : below))
      }
    }
  }
  return paths
}

export function renderedOutputs(run: ContainerRun, paths: NamedPaths): RenderedOutputs {
  const content = `# The rehearsal made this in the place of what ${run.name ?? 'the container'} renders.\n`
  const folders: string[] = []
  const files: Record<string, string> = {}
  for (const { base, path, isFile } of outputArguments(run)) {
    if (isFile) {
      files[`${base}/${path}`] = content
      continue
    }
    folders.push(`${base}/${path}`)
    const [first = '', ...rest] = path.split('/')
    const known = knownOutputs[first] ?? []
    for (const below of filesAmong(new Set([...known, ...(paths.get(first) ?? [])]))) {
      if (`${first}/${below}`.startsWith(rest.length > 0 ? `${path}/` : ''))
        files[`${base}/${first}/${below}`] = content
    }
  }
  return { folders, files }
}

interface OutputArgument {
  /** The folder of the host that the container sees. */
  readonly base: string
  /** Below it. */
  readonly path: string
  readonly isFile: boolean
}

/** `--asset-output-dir=/assets/api-bootstrap` of a container with `$PWD:/assets` is `api-bootstrap` below `$PWD`. */
function outputArguments({ command, volumes }: ContainerRun): readonly OutputArgument[] {
  return command.flatMap((word, index) => {
    const [, name = '', inline] = /^--?([\w-]*(?:output|dest)[\w-]*)(?:=(.*))?$/.exec(word) ?? []
    if (name === '') return []
    const value = inline ?? command[index + 1] ?? ''
    const isFile = name.endsWith('-file')
    const volume = volumes.find(({ container }) => value.startsWith(`${container}/`))
    return volume ? [{ base: volume.host, path: value.slice(volume.container.length + 1), isFile }] : []
  })
}

/** A path that others go on from is a folder; a pattern stands for one file. */
function filesAmong(named: ReadonlySet<string>): readonly string[] {
  const all = [...named]
  return all
    .filter((path) => !all.some((other) => other.startsWith(`${path}/`)))
    .map((path) => path.replaceAll('*', 'rehearsal.yaml').replaceAll('?', 'x'))
}
