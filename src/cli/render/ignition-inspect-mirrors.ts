/** Mirrors of a bootstrap host, and what its nodes do differently. */
import type { RegistryDifference } from '../../openshift/bootstrap/compare-registries.ts'
import type { RegistriesConf, RegistryMirror } from '../../registries/registries-conf.ts'
import { count } from './quantities.ts'

export function mirrorLines({ registries }: RegistriesConf): readonly string[] {
  if (registries.length === 0) return ['none: every image is read from where its name says']
  return registries.flatMap(({ prefix, mirrors, mirrorByDigestOnly, blocked, insecure }) => {
    const flags = [...(blocked ? ['blocked'] : []), ...(insecure ? ['insecure'] : [])]
    const own = mirrors.map((mirror) => `  ${mirrorText(mirror, mirrorByDigestOnly)}`)
    return [`${prefix}${flags.length === 0 ? '' : ` (${flags.join(', ')})`}`, ...own]
  })
}

function mirrorText({ location, insecure, pullFromMirror }: RegistryMirror, isByDigest: boolean): string {
  const use = isByDigest ? 'digest-only' : (pullFromMirror ?? 'all')
  const words = { 'digest-only': 'by digest', 'tag-only': 'by tag', all: 'by digest and tag' }
  return `${location}, ${words[use]}${insecure ? ', insecure: plain HTTP and any certificate' : ''}`
}

const shown = 8
const shownNames = 3

/**
 * What differs, what bears on the release first; what only nodes need in one line, for of operators there are hundreds.
 *
 * @param conf of the nodes; undefined where the operator refuses their manifests
 */
export function nodeLines(
  conf: RegistriesConf | undefined,
  differences: readonly RegistryDifference[],
): readonly string[] {
  if (conf === undefined) return ['get no configuration: the machine config operator refuses the manifests']
  if (differences.length === 0) return ['do the same']
  const further = differences.filter(({ kind, finding }) => kind === 'only-nodes' && finding.severity === 'info')
  const rank = { error: 0, warning: 1, info: 2 }
  const others = differences
    .filter((one) => !further.includes(one))
    .toSorted((one, other) => rank[one.finding.severity] - rank[other.finding.severity])
  const more = others.length - shown
  return [
    ...others
      .slice(0, shown)
      .flatMap(({ source, by, bootstrap, nodes }) => [
        `${source} by ${by}`,
        `  bootstrap  ${bootstrap.join(', ')}`,
        `  nodes      ${nodes.join(', ')}`,
      ]),
    ...(more > 0 ? [`and ${count(more, 'more difference')} (--json lists them all)`] : []),
    ...(further.length === 0 ? [] : [furtherLine(further, others.length > 0)]),
  ]
}

function furtherLine(further: readonly RegistryDifference[], isBeside: boolean): string {
  const names = [...new Set(further.map(({ source }) => source))]
  const listed = names.slice(0, shownNames).join(', ')
  const rest = names.length > shownNames ? `, and ${names.length - shownNames} more` : ''
  return `${isBeside ? 'beside, they' : 'they'} have mirrors for ${count(names.length, 'further source')}: ${listed}${rest}`
}
