/**
 * Mirrors in an install-config: what the bootstrap host gets, and the first nodes.
 *
 * Source: openshift/installer `pkg/types/validation/installconfig.go` (validateImageDigestSources, validateImageContentSources),
 * `pkg/asset/ignition/bootstrap/registries.go`.
 */
import { entriesOf, fieldOf, textOf } from '../config/loose-values.ts'
import { placeholderHint } from '../config/placeholder.ts'
import type { ValuePath } from '../config/yaml-nodes.ts'
import type { InstallConfigDocument } from './install-config-document.ts'

/** Fields of install-config that name mirrors; the first is the newer. */
const mirrorFields = ['imageDigestSources', 'imageContentSources'] as const

/** imageDigestSources is read from 4.14 on, and sourcePolicy from 4.21. */
const digestSourcesSince = 14
const sourcePolicySince = 21

export function checkMirrors(config: InstallConfigDocument): void {
  const given = mirrorFields.filter((field) => entriesOf(config.value, field).length > 0)
  if (given.length === 2) {
    const summary =
      'imageDigestSources stands there too, and the installer takes only one of the two; keep imageDigestSources'
    config.tell({ id: 'mirrors', path: ['imageContentSources'], summary, part: 'key' })
  } else if (given[0] === 'imageDigestSources' && config.isBefore(digestSourcesSince)) {
    const summary = 'read from 4.14 on only: this release finds no mirror; write imageContentSources'
    config.tell({ id: 'mirrors', path: ['imageDigestSources'], summary, part: 'key' })
  } else if (given[0] === 'imageContentSources' && !config.isBefore(digestSourcesSince)) {
    const summary = 'deprecated from 4.14 on; write imageDigestSources, the entries stay as they are'
    config.tell({ id: 'mirrors', severity: 'warning', path: ['imageContentSources'], summary, part: 'key' })
  }
  for (const field of given) {
    for (const index of entriesOf(config.value, field).keys()) checkEntry(config, [field, index])
    checkPolicies(config, field)
    checkCoverage(config, field)
  }
}

/** Hosts of the mirrors: `host:port` as the keys of a pull secret are. */
export function mirrorHosts(config: InstallConfigDocument): readonly string[] {
  const mirrors = mirrorFields.flatMap((field) =>
    entriesOf(config.value, field).flatMap((entry) => entriesOf(entry, 'mirrors')),
  )
  return [...new Set(mirrors.map((mirror) => String(mirror).split('/')[0] ?? ''))].filter((host) => host !== '')
}

function checkEntry(config: InstallConfigDocument, path: ValuePath): void {
  const [field = '', index = 0] = path
  const entry = entriesOf(config.value, String(field))[Number(index)]
  const source = textOf(entry, 'source')
  if (source === undefined) config.tell({ id: 'mirrors', path, summary: 'source is missing: whose mirrors are these?' })
  else checkRepository(config, [...path, 'source'], source)
  const mirrors = entriesOf(entry, 'mirrors')
  for (const [at, mirror] of mirrors.entries()) {
    if (typeof mirror === 'string') checkRepository(config, [...path, 'mirrors', at], mirror)
  }
  const policy = textOf(entry, 'sourcePolicy')
  if (policy === undefined) return
  const at = [...path, 'sourcePolicy']
  if (policy !== 'NeverContactSource' && policy !== 'AllowContactingSource')
    config.tell({ id: 'mirrors', path: at, summary: `"${policy}": it is NeverContactSource or AllowContactingSource` })
  else if (mirrors.length === 0)
    config.tell({ id: 'mirrors', path: at, summary: 'sourcePolicy cannot be configured without a mirror' })
  else if (config.isBefore(sourcePolicySince))
    config.tell({ id: 'mirrors', severity: 'warning', path: at, summary: 'read from 4.21 on only: it has no effect' })
}

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const repository = new RegExp(String.raw`^(?:\[[0-9a-fA-F:]+\]|[\w.-]+)(?::\d+)?(?:/${component})*$`)

function checkRepository(config: InstallConfigDocument, path: ValuePath, text: string): void {
  const isReference = /@sha\d+:|:[\w][\w.-]*$/.test(text.replace(/^[^/]*:\d+(?=\/|$)/, ''))
  if (isReference) {
    const summary = `"${text}" has a tag or digest, and must be repository--not reference; take it out`
    config.tell({ id: 'mirrors', path, summary })
  } else if (!repository.test(text)) {
    const why = text.includes('*') ? 'wildcards are for ImageDigestMirrorSet, not for install-config' : ''
    const hint = placeholderHint(text) || `; ${why || 'write HOST[:PORT]/PATH in lower case, without a scheme'}`
    config.tell({ id: 'mirrors', path, summary: `"${text}" is no repository${hint}` })
  } else if (path.includes('mirrors') && /^(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/.test(text)) {
    const summary = `"${text}": localhost is, on the bootstrap host and on each node, that host itself; write a name that they reach the mirror by`
    config.tell({ id: 'mirrors', path, summary })
  }
}

/** Two entries of one source with two policies are two tables in registries.conf, which containers/image refuses. */
function checkPolicies(config: InstallConfigDocument, field: string): void {
  const seen = new Map<string, string>()
  for (const [index, entry] of entriesOf(config.value, field).entries()) {
    const source = textOf(entry, 'source') ?? ''
    const policy = textOf(entry, 'sourcePolicy') ?? 'AllowContactingSource'
    const before = seen.get(source) ?? policy
    seen.set(source, before)
    if (before === policy) continue
    const summary = `${source} has ${before} above: registry is then defined multiple times with conflicting 'blocked' setting; keep one policy`
    config.tell({ id: 'mirrors', path: [field, index, 'sourcePolicy'], summary })
  }
}

const releaseSources = ['quay.io/openshift-release-dev/ocp-release', 'quay.io/openshift-release-dev/ocp-v4.0-art-dev']

/** The release image and what it names stand in two repositories: one without the other does not come up. */
function checkCoverage(config: InstallConfigDocument, field: string): void {
  const sources = entriesOf(config.value, field).map((entry) => textOf(entry, 'source') ?? '')
  const isCovered = (name: string) => sources.some((source) => name === source || name.startsWith(`${source}/`))
  const [missing, ...more] = releaseSources.filter((name) => !isCovered(name))
  if (missing === undefined || more.length > 0) return
  const summary = `no entry covers ${missing}, and the release needs both it and ${releaseSources.find((name) => name !== missing)}; add its mirror`
  config.tell({ id: 'mirror-coverage', severity: 'warning', path: [field], summary, part: 'key' })
}

/** True where the host of the mirror is reached without the proxy. */
export function isDirect(host: string, noProxy: readonly string[]): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return noProxy.some((entry) => {
    const wanted = entry.toLowerCase()
    return wanted === '*' || name === wanted || name.endsWith(wanted.startsWith('.') ? wanted : `.${wanted}`)
  })
}

export function hasMirrors(config: InstallConfigDocument): boolean {
  return mirrorFields.some((field) => fieldOf(config.value, field) !== undefined)
}
