/** A first `sallyport.yaml`, each field with a line that explains it; and what is mirrored, beside it. Pure. */
import { Document, isMap, isScalar, isSeq, type Pair } from 'yaml'
import * as z from 'zod'
import { bareSchema, schemaAt } from './schema-fields.ts'
import { SiteConfig, siteApiVersion } from './site-configuration.ts'
import type { PlatformName } from './site-platforms.ts'
import type { SiteVariant } from './site-stages.ts'

export interface SiteAnswers {
  readonly name: string
  readonly baseDomain: string
  readonly variant: SiteVariant
  readonly platform: PlatformName
  /** A version (4.18.9), a channel (stable-4.18), or an image. */
  readonly release: string
  /** `host:port/path`; undefined: no mirror. */
  readonly registry?: string | undefined
  /** `http://host:port`; undefined: no proxy. */
  readonly proxy?: string | undefined
}

export const imageSetFileName = 'imageset-config.yaml'

const head = ` What this site is. Every field is explained above it; sallyport config check says what is wrong with this file.
 Change it with an editor, or with sallyport init --set FIELD=VALUE. No secret stands in it: only where each one is.`

/** Reads back without findings where the answers fit the format. */
export function renderSiteTemplate(answers: SiteAnswers): string {
  const document = new Document(siteOf(answers))
  document.commentBefore = head
  explain(document.contents, [])
  return document.toString({ lineWidth: 0, indentSeq: false })
}

/** The same release, for `sallyport mirror` and oc-mirror. */
export function renderImageSetTemplate({ release }: Pick<SiteAnswers, 'release'>): string {
  const { version, channel, image } = releaseOf(release)
  const name = channel ?? `stable-${/^\d+\.\d+/.exec(version ?? '')?.[0] ?? ''}`
  const range = version === undefined ? '' : `\n      minVersion: ${version}\n      maxVersion: ${version}`
  const platform = image === undefined ? `channels:\n    - name: ${name}${range}` : `release: ${image}`
  return `# What is mirrored; oc-mirror reads this file, too. sallyport list operators shows what operators there are.
apiVersion: mirror.openshift.io/v2alpha1
kind: ImageSetConfiguration
mirror:
  platform:
    ${platform}
  # operators:
  # - catalog: registry.redhat.io/redhat/redhat-operator-index:v4.18
  #   packages:
  #   - name: cincinnati-operator
  # additionalImages:
  # - name: registry.redhat.io/ubi9/ubi:latest
`
}

interface WrittenRelease {
  readonly version?: string
  readonly channel?: string
  readonly image?: string
}

function releaseOf(text: string): WrittenRelease {
  if (text.includes('/')) return { image: text }
  return /^\d/.test(text) ? { version: text } : { channel: text }
}

function siteOf(answers: SiteAnswers): object {
  const { name, baseDomain, variant, platform, registry, proxy } = answers
  const hasCluster = variant !== 'registry-only'
  const isLab = platform === 'lab'
  const host = registry?.split('/')[0]?.replace(/:\d+$/, '') ?? ''
  const secrets = secretsOf(answers)
  return {
    apiVersion: siteApiVersion,
    kind: 'Site',
    name,
    baseDomain,
    variant,
    platform: { [platform]: platforms[platform](baseDomain) },
    release: { ...releaseOf(answers.release), architecture: 'amd64', ...(!isLab && { pullSecret: 'pullSecret' }) },
    ...(registry !== undefined && {
      mirror: { registry, service: 'embedded', ...(!isLab && { imageSet: imageSetFileName }) },
    }),
    ...(registry !== undefined && hasCluster && !isLab && { bastion: { address: host, user: 'core', keep: true } }),
    ...(proxy !== undefined && { proxy: { url: proxy, noProxy: [`.${baseDomain}`] } }),
    ...(hasCluster && { cluster: clusterOf() }),
    ...(Object.keys(secrets).length > 0 && { secrets }),
    teardown: 'ask',
  }
}

function clusterOf(): object {
  return {
    controlPlaneReplicas: 3,
    computeReplicas: 2,
    networking: {
      machineNetwork: [{ cidr: '10.0.0.0/16' }],
      clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
      serviceNetwork: ['172.30.0.0/16'],
    },
    fips: false,
  }
}

function secretsOf({ platform }: SiteAnswers): object {
  return {
    ...(platform !== 'lab' && { pullSecret: { file: 'secrets/pull-secret.json' } }),
    ...(platform === 'aws' && { aws: { file: 'secrets/aws-credentials' } }),
    ...(platform === 'vsphere' && { vcenter: { file: 'secrets/vcenter' } }),
    ...(platform === 'nutanix' && { prism: { file: 'secrets/prism' } }),
  }
}

/** What has no default is written as an example that has the right form. */
const platforms: Readonly<Record<PlatformName, (baseDomain: string) => object>> = {
  lab: () => ({ network: 'auto', nodes: 3 }),
  none: () => ({}),
  baremetal: () => ({ apiVIPs: ['10.0.0.5'], ingressVIPs: ['10.0.0.6'] }),
  aws: () => ({ region: 'us-east-1', credentials: 'aws' }),
  vsphere: (baseDomain) => ({
    vcenters: [{ server: `vcenter.${baseDomain}`, datacenters: ['dc1'], credentials: 'vcenter' }],
    failureDomains: [
      {
        name: 'zone1',
        region: 'region1',
        zone: 'zone1',
        server: `vcenter.${baseDomain}`,
        topology: {
          datacenter: 'dc1',
          computeCluster: '/dc1/host/cluster1',
          datastore: '/dc1/datastore/datastore1',
          networks: ['VM Network'],
        },
      },
    ],
    apiVIPs: ['10.0.0.5'],
    ingressVIPs: ['10.0.0.6'],
  }),
  nutanix: (baseDomain) => ({
    prismCentral: { address: `prism.${baseDomain}`, port: 9440, credentials: 'prism' },
    prismElements: [{ uuid: '00000000-0000-0000-0000-000000000000', address: `element.${baseDomain}`, port: 9440 }],
    subnetUUIDs: ['00000000-0000-0000-0000-000000000000'],
    apiVIPs: ['10.0.0.5'],
    ingressVIPs: ['10.0.0.6'],
  }),
}

/** Puts what the schema says about a field above it; between sections stands an empty line. */
function explain(node: unknown, path: readonly (string | number)[]): void {
  if (isSeq(node)) for (const [index, item] of node.items.entries()) explain(item, [...path, index])
  if (!isMap(node)) return
  for (const [index, pair] of node.items.entries()) explainPair(pair, { path, isFirst: index === 0 })
}

interface PairPlace {
  readonly path: readonly (string | number)[]
  readonly isFirst: boolean
}

function explainPair({ key, value }: Pair, { path, isFirst }: PairPlace): void {
  if (!isScalar(key)) return
  const own = [...path, String(key.value)]
  const text = descriptionAt(own)
  // The first field of an entry of a list stands behind its dash.
  const isBehindDash = isFirst && typeof path.at(-1) === 'number'
  if (text !== undefined && !isBehindDash) key.commentBefore = ` ${text}`
  if (path.length === 0 && !isFirst) key.spaceBefore = true
  explain(value, own)
}

function descriptionAt(path: readonly (string | number)[]): string | undefined {
  const schema = schemaAt(SiteConfig, path)
  return textOf(schema) ?? textOf(bareSchema(schema))
}

function textOf(schema: z.core.$ZodType | undefined): string | undefined {
  return schema && z.globalRegistry.get(schema)?.description
}
