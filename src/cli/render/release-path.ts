/** What `release path` prints: the drawing, what it carries, and the configuration that mirrors it. */
import { drawUpdatePath } from '../../openshift/graph/draw-path.ts'
import type { FoundPath } from '../../release/graph-path.ts'
import type { PathShares, ReleaseShare } from '../../release/path-contents.ts'
import { count, formatBytes } from './quantities.ts'

export interface PathView {
  readonly found: FoundPath
  readonly type: 'ocp' | 'okd'
  readonly architecture: string
  /** Absent where sizes were not asked for. */
  readonly shares?: PathShares | undefined
}

export function renderPath(view: PathView): string {
  const { found, shares } = view
  const drawing = drawUpdatePath(found.path, {
    channel: found.channel,
    note: (_, index) => noteOn(shares?.releases[index], index),
  })
  const parts = [
    ...found.passedOver.map(({ channel, why }) => `not ${channel}: ${why}\n`),
    `channel ${found.channel}, ${view.architecture}\n\n`,
    drawing,
    ...(shares ? [`\n${renderTotal(shares)}`] : []),
    `\nTo mirror this path:\n\n${imageSetConfiguration(view)}`,
  ]
  return parts.join('')
}

function noteOn(share: ReleaseShare | undefined, index: number): string | undefined {
  if (!share) return undefined
  const unknown = share.unknown > 0 ? `, ${share.unknown} of unknown size` : ''
  const what = `${count(share.components, 'component')}${unknown}, ${formatBytes(share.bytes)}`
  return index === 0 ? what : `${what}; new: ${count(share.newImages, 'image')}, ${formatBytes(share.newBytes)}`
}

function renderTotal({ releases, bytes }: PathShares): string {
  const apart = releases.reduce((sum, release) => sum + release.bytes, 0)
  return `It carries ${formatBytes(bytes)}, every blob once (${formatBytes(apart)} release by release).\n`
}

/** An ImageSetConfiguration that mirrors exactly this path. */
function imageSetConfiguration({ found, type, architecture }: PathView): string {
  const [first, last] = [found.path.releases[0], found.path.releases.at(-1)]
  const lines = [
    'kind: ImageSetConfiguration',
    'apiVersion: mirror.openshift.io/v2alpha1',
    'mirror:',
    '  platform:',
    ...(architecture === 'amd64' ? [] : ['    architectures:', `      - ${architecture}`]),
    '    channels:',
    `      - name: ${found.channel}`,
    ...(type === 'ocp' ? [] : [`        type: ${type}`]),
    `        minVersion: ${first?.version}`,
    `        maxVersion: ${last?.version}`,
    '        shortestPath: true',
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** What `--json` prints. */
export function pathDocument(view: PathView): object {
  const { found, type, architecture, shares } = view
  const { channel, path, passedOver } = found
  return {
    channel,
    type,
    architecture,
    releases: path.releases.map(({ version, payload, metadata: { url } }, index) => ({
      version,
      payload,
      ...(url !== undefined && { url }),
      ...(shares && sharesDocument(shares.releases[index])),
    })),
    hops: path.hops.map(({ from, to, risks }) => ({ from: from.version, to: to.version, risks })),
    riskyHops: path.riskyHops,
    fewestHops: path.fewestHops,
    alternatives: path.alternatives,
    ...(shares && { bytes: shares.bytes }),
    passedOver,
    imageSetConfiguration: imageSetConfiguration(view),
  }
}

function sharesDocument(share: ReleaseShare | undefined): object {
  if (!share) return {}
  const { version: _, ...sizes } = share
  return sizes
}
