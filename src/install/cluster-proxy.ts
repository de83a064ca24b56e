/** The proxy of a cluster, and what it does not use it for. */
import type { SiteConfig } from '../config/site-configuration.ts'
import { platformOf } from '../config/site-platforms.ts'
import { registryHost } from './pull-secret.ts'

export interface ClusterProxy {
  readonly httpProxy?: string
  readonly httpsProxy: string
  readonly noProxy?: string
}

/**
 * As install-config has it. The mirror is added to `noProxy`: the installer does not, and nodes would ask the proxy for it.
 *
 * @param credentials `USER:PASSWORD`, one line
 */
export function clusterProxy(site: SiteConfig, credentials: string | undefined): ClusterProxy | undefined {
  if (site.proxy === undefined) return undefined
  const url = new URL(site.proxy.url)
  if (credentials !== undefined) {
    const [user = '', ...password] = credentials.trim().split(':')
    url.username = encodeURIComponent(user)
    url.password = encodeURIComponent(password.join(':'))
  }
  const text = url.href.replace(/\/$/, '')
  const direct = ownEntries(site)
  // Of httpProxy the installer takes the scheme http only.
  const isPlain = url.protocol === 'http:'
  return {
    ...(isPlain && { httpProxy: text }),
    httpsProxy: text,
    ...(direct.length > 0 && { noProxy: direct.join(',') }),
  }
}

/**
 * What a running cluster reaches directly: what the site says, and what the installer adds by itself.
 *
 * Source: openshift/installer `pkg/asset/manifests/proxy.go` (createNoProxy).
 */
export function effectiveNoProxy(site: SiteConfig): readonly string[] {
  const { machineNetwork = [], clusterNetwork = [], serviceNetwork = [] } = site.cluster?.networking ?? {}
  const region = site.platform.aws?.region
  return [
    ...new Set([
      ...ownEntries(site),
      '127.0.0.1',
      'localhost',
      '.svc',
      '.cluster.local',
      `api-int.${site.name}.${site.baseDomain}`,
      ...machineNetwork.map(({ cidr }) => cidr),
      ...clusterNetwork.map(({ cidr }) => cidr),
      ...serviceNetwork,
      ...(platformOf(site) === 'aws' ? ['169.254.169.254'] : []),
      ...(region === undefined ? [] : [region === 'us-east-1' ? '.ec2.internal' : `.${region}.compute.internal`]),
    ]),
  ].sort()
}

function ownEntries(site: SiteConfig): readonly string[] {
  const mirror = site.mirror && registryHost(site.mirror.registry).replace(/:\d+$/, '')
  return [...new Set([...(site.proxy?.noProxy ?? []), ...(mirror === undefined ? [] : [mirror])])]
}
