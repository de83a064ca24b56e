/**
 * Networks and proxy in an install-config.
 *
 * Source: openshift/installer `pkg/types/validation/installconfig.go` (validateNetworking, validateProxy).
 */
import { addressNetwork, doNetworksOverlap, formatNetwork, type IpNetwork, parseNetwork } from '../config/ip-network.ts'
import { entriesOf, fieldOf, textOf } from '../config/loose-values.ts'
import { placeholderHint } from '../config/placeholder.ts'
import { ovnNetworks } from '../config/site-network-rules.ts'
import type { ValuePath } from '../config/yaml-nodes.ts'
import type { InstallConfigDocument } from './install-config-document.ts'
import { isDirect, mirrorHosts } from './install-config-mirrors.ts'

interface NamedNetwork {
  readonly path: ValuePath
  readonly text: string
  readonly network: IpNetwork
}

export function checkNetwork(config: InstallConfigDocument): void {
  checkType(config)
  checkNetworks(config)
  checkProxy(config)
}

function checkType(config: InstallConfigDocument): void {
  const type = textOf(fieldOf(config.value, 'networking'), 'networkType')
  if (type !== 'OpenShiftSDN' || config.isBefore(15)) return
  const summary = 'OpenShiftSDN is not supported from 4.15 on; write OVNKubernetes'
  config.tell({ id: 'network', severity: config.severityFrom(15), path: ['networking', 'networkType'], summary })
}

function checkNetworks(config: InstallConfigDocument): void {
  const networking = fieldOf(config.value, 'networking')
  const groups = ['machineNetwork', 'clusterNetwork', 'serviceNetwork'].map((field) => readNetworks(config, field))
  const all = groups.flat()
  const isOvn = (textOf(networking, 'networkType') ?? 'OVNKubernetes') === 'OVNKubernetes'
  for (const [index, one] of all.entries()) {
    const other = all.slice(0, index).find(({ network }) => doNetworksOverlap(network, one.network))
    const own = isOvn ? ovnNetworks.find(([text]) => overlaps(text, one.network)) : undefined
    const what = other?.text ?? (own && `${own[0]}, ${own[1]}`)
    if (what !== undefined)
      config.tell({ id: 'network', path: one.path, summary: `${one.text} must not overlap with ${what}` })
    else if (overlaps('172.17.0.0/16', one.network)) {
      const summary = `${one.text} overlaps with 172.17.0.0/16, which Docker takes for itself on hosts that have it`
      config.tell({ id: 'network', severity: 'warning', path: one.path, summary })
    }
  }
  for (const [index, entry] of entriesOf(networking, 'clusterNetwork').entries()) checkHostPrefix(config, entry, index)
}

function overlaps(text: string, network: IpNetwork): boolean {
  const other = parseNetwork(text)
  return other !== undefined && doNetworksOverlap(other, network)
}

function readNetworks(config: InstallConfigDocument, field: string): NamedNetwork[] {
  return entriesOf(fieldOf(config.value, 'networking'), field).flatMap((entry, index) => {
    const isPlain = field === 'serviceNetwork'
    const text = isPlain ? entry : fieldOf(entry, 'cidr')
    const path = ['networking', field, index, ...(isPlain ? [] : ['cidr'])]
    if (typeof text !== 'string') {
      config.tell({ id: 'network', path, summary: 'a network is wanted here, for example 10.0.0.0/16' })
      return []
    }
    const network = parseNetwork(text)
    if (network === undefined) {
      config.tell({ id: 'network', path, summary: `"${text}" is no network${placeholderHint(text)}` })
      return []
    }
    if (!network.isNetworkAddress)
      config.tell({
        id: 'network',
        path,
        summary: `invalid network address. got ${text}, expecting ${formatNetwork(network)}`,
      })
    return [{ path, text, network }]
  })
}

function checkHostPrefix(config: InstallConfigDocument, entry: unknown, index: number): void {
  const network = parseNetwork(textOf(entry, 'cidr') ?? '')
  const hostPrefix = fieldOf(entry, 'hostPrefix')
  const path = ['networking', 'clusterNetwork', index, 'hostPrefix']
  if (network === undefined || typeof hostPrefix !== 'number') return
  if (hostPrefix < network.prefix)
    config.tell({
      id: 'network',
      path,
      summary: `cluster network host subnetwork prefix must not be larger size than CIDR /${network.prefix}`,
    })
  else if (network.version === 6 && hostPrefix !== 64)
    config.tell({ id: 'network', path, summary: 'cluster network host subnetwork prefix must be 64 for IPv6 networks' })
}

function checkProxy(config: InstallConfigDocument): void {
  const proxy = fieldOf(config.value, 'proxy')
  if (typeof proxy !== 'object' || proxy === null) return
  const [http, https] = [textOf(proxy, 'httpProxy'), textOf(proxy, 'httpsProxy')]
  if (!http && !https)
    config.tell({ id: 'proxy', path: ['proxy'], summary: 'must include httpProxy or httpsProxy', part: 'key' })
  if (http) checkProxyUrl(config, 'httpProxy', /^http:$/)
  if (https) checkProxyUrl(config, 'httpsProxy', /^https?:$/)
  const noProxy = textOf(proxy, 'noProxy') ?? ''
  checkNoProxy(config, noProxy)
  if (!http && !https) return
  const entries = noProxy.split(',').map((entry) => entry.trim())
  const networks = [...entries, ...machineNetworks(config)].flatMap((entry) => parseNetwork(entry) ?? [])
  for (const host of mirrorHosts(config)) {
    const address = addressNetwork(host.replace(/:\d+$/, ''))
    const isInNetwork = address !== undefined && networks.some((network) => doNetworksOverlap(network, address))
    if (
      isInNetwork ||
      isDirect(
        host,
        entries.filter((entry) => entry !== ''),
      )
    )
      continue
    const name = host.replace(/:\d+$/, '')
    const summary = `the mirror ${name} is not in it, and the installer does not add it: nodes would ask the proxy for it; add ${name}`
    config.tell({ id: 'proxy', severity: 'warning', path: ['proxy', 'noProxy'], summary, part: 'key' })
  }
}

function machineNetworks({ value }: InstallConfigDocument): string[] {
  return entriesOf(fieldOf(value, 'networking'), 'machineNetwork').map((entry) => textOf(entry, 'cidr') ?? '')
}

function checkProxyUrl(config: InstallConfigDocument, field: string, schemes: RegExp): void {
  const text = textOf(fieldOf(config.value, 'proxy'), field) ?? ''
  const path = ['proxy', field]
  const url = URL.parse(text)
  if (url === null || url.hostname === '')
    config.tell({ id: 'proxy', path, summary: `it is no URL${placeholderHint(text)}` })
  else if (!schemes.test(url.protocol)) {
    const allowed = field === 'httpProxy' ? 'http' : 'http or https'
    config.tell({
      id: 'proxy',
      path,
      summary: `the scheme is ${url.protocol.slice(0, -1)}, and ${allowed} is supported`,
    })
  }
}

const domain = /^\.?[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/

function checkNoProxy(config: InstallConfigDocument, noProxy: string): void {
  const path = ['proxy', 'noProxy']
  if (noProxy === '' || noProxy === '*') return
  if (/\s/.test(noProxy)) {
    config.tell({ id: 'proxy', path, summary: 'noProxy must not have spaces' })
    return
  }
  for (const [index, entry] of noProxy.split(',').entries()) {
    const isNetwork = parseNetwork(entry) !== undefined || addressNetwork(entry) !== undefined
    if (isNetwork || domain.test(entry)) continue
    const summary = `each element of noProxy must be a IP, CIDR or domain without wildcard characters, which is violated by element ${index} "${entry}"`
    config.tell({ id: 'proxy', path, summary })
  }
}
