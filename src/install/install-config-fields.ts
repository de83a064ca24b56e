/**
 * The fields of install-config, and what stands in each.
 *
 * Source: openshift/installer `data/data/install.openshift.io_installconfigs.yaml` (4.22).
 */
import { entriesOf, fieldOf } from '../config/loose-values.ts'
import { nearest } from '../config/nearest.ts'
import { placeholderHint } from '../config/placeholder.ts'
import type { ValuePath } from '../config/yaml-nodes.ts'
import type { InstallConfigDocument } from './install-config-document.ts'

type Kind = 'text' | 'boolean' | 'number' | 'list' | 'mapping'

const topFields: Readonly<Record<string, Kind>> = {
  additionalTrustBundle: 'text',
  additionalTrustBundlePolicy: 'text',
  apiVersion: 'text',
  arbiter: 'mapping',
  baseDomain: 'text',
  bootstrapInPlace: 'mapping',
  capabilities: 'mapping',
  compute: 'list',
  controlPlane: 'mapping',
  cpuPartitioningMode: 'text',
  credentialsMode: 'text',
  featureGates: 'list',
  featureSet: 'text',
  fips: 'boolean',
  imageContentSources: 'list',
  imageDigestSources: 'list',
  kind: 'text',
  metadata: 'mapping',
  networking: 'mapping',
  operatorPublishingStrategy: 'mapping',
  osImageStream: 'text',
  platform: 'mapping',
  proxy: 'mapping',
  publish: 'text',
  pullSecret: 'text',
  sshKey: 'text',
}

const pool = ['architecture', 'diskSetup', 'fencing', 'hyperthreading', 'name', 'platform', 'replicas']
const vips = ['apiVIP', 'apiVIPs', 'ingressVIP', 'ingressVIPs', 'loadBalancer', 'dnsRecordsType']

/** Fields of the sections that a disconnected installation decides; of all others the installer itself says. */
const sections: Readonly<Record<string, readonly string[]>> = {
  networking: [
    ...['clusterNetwork', 'clusterNetworkMTU', 'clusterNetworks', 'machineCIDR', 'machineNetwork', 'networkType'],
    ...['ovnKubernetesConfig', 'serviceCIDR', 'serviceNetwork', 'type'],
  ],
  proxy: ['httpProxy', 'httpsProxy', 'noProxy'],
  capabilities: ['additionalEnabledCapabilities', 'baselineCapabilitySet'],
  controlPlane: pool,
  arbiter: pool,
  'compute[]': pool,
  'imageDigestSources[]': ['mirrors', 'source', 'sourcePolicy'],
  'imageContentSources[]': ['mirrors', 'source'],
  'platform.none': [],
  'platform.aws': [
    ...['amiID', 'bestEffortDeleteIgnition', 'defaultMachinePlatform', 'hostedZone', 'hostedZoneRole', 'ipFamily'],
    ...['lbType', 'preserveBootstrapIgnition', 'propagateUserTags', 'experimentalPropagateUserTags', 'publicIpv4Pool'],
    ...['region', 'serviceEndpoints', 'subnets', 'userProvisionedDNS', 'userTags', 'vpc'],
  ],
  'platform.vsphere': [
    ...vips,
    ...['cluster', 'clusterOSImage', 'datacenter', 'defaultDatastore', 'defaultMachinePlatform', 'diskType'],
    ...['failureDomains', 'folder', 'hosts', 'network', 'nodeNetworking', 'password', 'resourcePool', 'username'],
    ...['vCenter', 'vcenters'],
  ],
  'platform.baremetal': [
    ...vips,
    ...['additionalNTPServers', 'bmcVerifyCA', 'bootstrapExternalStaticDNS', 'bootstrapExternalStaticGateway'],
    ...['bootstrapExternalStaticIP', 'bootstrapOSImage', 'bootstrapProvisioningIP', 'clusterOSImage'],
    ...[
      'clusterProvisioningIP',
      'defaultMachinePlatform',
      'externalBridge',
      'externalMACAddress',
      'hosts',
      'libvirtURI',
    ],
    ...['provisioningBridge', 'provisioningDHCPExternal', 'provisioningDHCPRange', 'provisioningHostIP'],
    ...['provisioningMACAddress', 'provisioningNetwork', 'provisioningNetworkCIDR', 'provisioningNetworkInterface'],
  ],
  'platform.nutanix': [
    ...vips,
    ...['clusterOSImage', 'defaultMachinePlatform', 'failureDomains', 'preloadedOSImageName', 'prismAPICallTimeout'],
    ...['prismCentral', 'prismElements', 'subnetUUIDs'],
  ],
}

/** Unknown fields are refused from here on; before, the installer passes over them with a warning. */
const strictSince = 22

export function checkFields(config: InstallConfigDocument): void {
  tellUnknown(config, [], Object.keys(topFields))
  for (const [name, kind] of Object.entries(topFields)) checkKind(config, name, kind)
  for (const [place, fields] of Object.entries(sections)) {
    for (const path of pathsOf(config.value, place)) tellUnknown(config, path, fields)
  }
}

function tellUnknown(config: InstallConfigDocument, path: ValuePath, known: readonly string[]): void {
  const value = path.reduce<unknown>(stepInto, config.value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  for (const field of Object.keys(value).filter((one) => !known.includes(one))) {
    const meant = nearest(field, known)
    const help = meant === undefined ? '' : `; did you mean "${meant}"?`
    const effect = config.isAtLeast(strictSince)
      ? 'the installer refuses it'
      : 'it has no effect, and the installer refuses it from 4.22 on'
    const severity = config.severityFrom(strictSince)
    const summary = `install-config has no field "${field}" here: ${effect}${help}`
    config.tell({ id: 'unknown-field', severity, path: [...path, field], summary, part: 'key' })
  }
}

/** The installer takes the name of a field in any case of letters (Go's JSON): the value, with the names of the format. */
export function withKnownNames(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const top = renamed(value, Object.keys(topFields))
  for (const [place, fields] of Object.entries(sections)) {
    const [first = '', second] = place.replace('[]', '').split('.')
    const held = top[first]
    if (place.endsWith('[]') && Array.isArray(held))
      top[first] = held.map((entry: unknown) => renamedIfMapping(entry, fields))
    else if (second === undefined) top[first] = renamedIfMapping(held, fields)
    else if (fieldOf(held, second) !== undefined)
      top[first] = { ...(held as object), [second]: renamedIfMapping(fieldOf(held, second), fields) }
  }
  return Object.fromEntries(Object.entries(top).filter(([, one]) => one !== undefined))
}

function renamedIfMapping(value: unknown, fields: readonly string[]): unknown {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isMapping ? renamed(value as Record<string, unknown>, fields) : value
}

function renamed(value: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> {
  const known = new Map(fields.map((field) => [field.toLowerCase(), field]))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [known.get(key.toLowerCase()) ?? key, one]))
}

/** `compute[]` -> every entry of `compute`. */
function pathsOf(value: unknown, place: string): ValuePath[] {
  if (place.endsWith('[]')) return entriesOf(value, place.slice(0, -2)).map((_, index) => [place.slice(0, -2), index])
  return [place.split('.')]
}

function stepInto(value: unknown, step: PropertyKey): unknown {
  return typeof step === 'number' && Array.isArray(value) ? value[step] : fieldOf(value, String(step))
}

const wanted: Readonly<Record<Kind, string>> = {
  text: 'text',
  boolean: 'true or false, without quotes,',
  number: 'a number',
  list: 'a list',
  mapping: 'a mapping of fields',
}

function checkKind(config: InstallConfigDocument, name: string, kind: Kind): void {
  const value = fieldOf(config.value, name)
  if (value === undefined || value === null || kindOf(value) === kind) return
  const hint = typeof value === 'string' ? placeholderHint(value) : ''
  const quotes = name === 'pullSecret' ? '; put the JSON between single quotes: \'{"auths": …}\'' : ''
  config.tell({ id: 'value', path: [name], summary: `${wanted[kind]} is wanted here${quotes}${hint}`, part: 'key' })
}

function kindOf(value: unknown): Kind {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'object') return 'mapping'
  return typeof value === 'string' ? 'text' : typeof value === 'boolean' ? 'boolean' : 'number'
}
