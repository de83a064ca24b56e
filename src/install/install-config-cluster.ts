/**
 * Names, platform, machines and capabilities in an install-config.
 *
 * Source: openshift/installer `pkg/types/validation/installconfig.go`, `pkg/types/{aws,baremetal}/validation`.
 */
import { addressNetwork, doNetworksOverlap, parseNetwork } from '../config/ip-network.ts'
import { entriesOf, fieldOf, textOf } from '../config/loose-values.ts'
import { placeholderHint } from '../config/placeholder.ts'
import { isDomainName } from '../config/site-values.ts'
import type { InstallConfigDocument } from './install-config-document.ts'

export function checkCluster(config: InstallConfigDocument): void {
  checkNames(config)
  const platform = checkPlatform(config)
  checkPools(config)
  checkCapabilities(config, platform)
}

const longestName = 54
const onPremises = ['vsphere', 'baremetal', 'nutanix', 'openstack', 'ovirt']

function checkNames(config: InstallConfigDocument): void {
  const { value } = config
  checkVersion(config)
  const name = textOf(value['metadata'], 'name')
  const path = ['metadata', 'name']
  if (!name) config.tell({ id: 'value', path, summary: 'the name of the cluster is missing' })
  else if (!isDomainName(name))
    config.tell({ id: 'value', path, summary: `"${name}" is no DNS name${placeholderHint(name)}` })
  else if (name.length > longestName)
    config.tell({
      id: 'value',
      path,
      summary: `must be no more than ${longestName} characters, and has ${name.length}`,
    })
  else if (name.includes('.') && onPremises.includes(platformsOf(value)[0] ?? ''))
    config.tell({ id: 'value', path, summary: "cluster name must not contain '.'" })
  const baseDomain = textOf(value, 'baseDomain')
  if (!baseDomain) config.tell({ id: 'value', path: ['baseDomain'], summary: 'it is missing' })
  else if (!isDomainName(baseDomain))
    config.tell({
      id: 'value',
      path: ['baseDomain'],
      summary: `"${baseDomain}" is no DNS domain${placeholderHint(baseDomain)}`,
    })
  if (!value['pullSecret'])
    config.tell({ id: 'pull-secret', path: ['pullSecret'], summary: 'the pull secret is missing' })
}

/** v1beta3 and v1beta4 are brought up to date by the installer (`pkg/types/conversion`). */
function checkVersion(config: InstallConfigDocument): void {
  const written = config.value['apiVersion']
  if (written === 'v1') return
  const isOld = written === 'v1beta3' || written === 'v1beta4'
  const summary = written === undefined ? 'it is missing; write apiVersion: v1' : 'it must be v1'
  config.tell({ id: 'value', severity: isOld ? 'warning' : 'error', path: ['apiVersion'], summary })
}

function platformsOf(value: unknown): string[] {
  const platform = fieldOf(value, 'platform')
  return typeof platform === 'object' && platform !== null ? Object.keys(platform) : []
}

const internal = ['aws', 'azure', 'gcp', 'ibmcloud', 'powervs']
const modes: Readonly<Record<string, readonly string[]>> = {
  aws: ['Mint', 'Passthrough', 'Manual'],
  gcp: ['Mint', 'Passthrough', 'Manual'],
  azure: ['Passthrough', 'Manual'],
  nutanix: ['Manual'],
  ibmcloud: ['Manual'],
  powervs: ['Manual'],
  openstack: ['Passthrough'],
  vsphere: [],
  none: [],
  baremetal: [],
}

/** The platform, where exactly one is named. */
function checkPlatform(config: InstallConfigDocument): string | undefined {
  const names = platformsOf(config.value)
  const [platform, ...more] = names
  if (platform === undefined || more.length > 0) {
    const summary =
      platform === undefined
        ? 'must specify one platform'
        : `must only specify a single type of platform; found ${names.join(', ')}`
    config.tell({ id: 'platform', path: ['platform'], summary, part: 'key' })
    return undefined
  }
  const publish = textOf(config.value, 'publish') ?? ''
  if (!['', 'External', 'Internal', 'Mixed'].includes(publish))
    config.tell({ id: 'platform', path: ['publish'], summary: `"${publish}": it is External or Internal` })
  else if (publish === 'Internal' && !internal.includes(platform)) {
    const summary = `Internal publish strategy is not supported on "${platform}" platform; take it out: nothing is published there that you do not publish yourself`
    config.tell({ id: 'platform', path: ['publish'], summary })
  }
  const mode = textOf(config.value, 'credentialsMode') ?? ''
  const allowed = modes[platform]
  if (mode !== '' && allowed !== undefined && !allowed.includes(mode)) {
    const summary =
      allowed.length === 0
        ? `cannot be set when using the "${platform}" platform`
        : `"${mode}": on ${platform} it is ${allowed.join(' or ')}`
    config.tell({ id: 'platform', path: ['credentialsMode'], summary })
  }
  if (platform === 'aws') checkAws(config)
  if (platform === 'baremetal') checkVips(config)
  return platform
}

function checkAws(config: InstallConfigDocument): void {
  const aws = fieldOf(fieldOf(config.value, 'platform'), 'aws')
  const path = ['platform', 'aws']
  if (!textOf(aws, 'region')) config.tell({ id: 'platform', path, summary: 'region must be specified', part: 'key' })
  const subnets = [...entriesOf(aws, 'subnets'), ...entriesOf(fieldOf(aws, 'vpc'), 'subnets')]
  if (textOf(aws, 'hostedZone') && subnets.length === 0) {
    const summary = 'may not use an existing hosted zone when not using existing subnets'
    config.tell({ id: 'platform', path: [...path, 'hostedZone'], summary })
  }
  for (const [index, endpoint] of entriesOf(aws, 'serviceEndpoints').entries()) {
    const url = URL.parse(textOf(endpoint, 'url') ?? '')
    if (url?.protocol === 'https:' && (url.pathname === '/' || url.pathname === '') && url.search === '') continue
    const summary = 'an endpoint is https://HOST: no path or request parameters must be provided'
    config.tell({ id: 'platform', path: [...path, 'serviceEndpoints', index, 'url'], summary })
  }
}

/** Addresses that nodes hold themselves lie in a network of theirs, where one is named. */
function checkVips(config: InstallConfigDocument): void {
  const machines = entriesOf(fieldOf(config.value, 'networking'), 'machineNetwork').map(
    (one) => textOf(one, 'cidr') ?? '',
  )
  const networks = machines.flatMap((text) => parseNetwork(text) ?? [])
  const baremetal = fieldOf(fieldOf(config.value, 'platform'), 'baremetal')
  if (networks.length === 0 || fieldOf(baremetal, 'loadBalancer') !== undefined) return
  for (const field of ['apiVIPs', 'ingressVIPs']) {
    for (const [index, text] of entriesOf(baremetal, field).entries()) {
      const address = typeof text === 'string' ? addressNetwork(text) : undefined
      const path = ['platform', 'baremetal', field, index]
      if (address === undefined)
        config.tell({
          id: 'platform',
          path,
          summary: `"${String(text)}" is no IP address${placeholderHint(String(text))}`,
        })
      else if (!networks.some((network) => doNetworksOverlap(network, address)))
        config.tell({
          id: 'platform',
          path,
          summary: `IP expected to be in one of the machine networks: ${machines.join(',')}`,
        })
    }
  }
}

function checkPools(config: InstallConfigDocument): void {
  const controlPlane = fieldOf(config.value, 'controlPlane')
  const name = textOf(controlPlane, 'name')
  if (name !== undefined && name !== 'master')
    config.tell({
      id: 'machines',
      path: ['controlPlane', 'name'],
      summary: `"${name}": the control plane is named master`,
    })
  const replicas = fieldOf(controlPlane, 'replicas')
  if (typeof replicas === 'number' && replicas < 1)
    config.tell({
      id: 'machines',
      path: ['controlPlane', 'replicas'],
      summary: 'number of control plane replicas must be positive',
    })
  for (const [index, pool] of entriesOf(config.value, 'compute').entries()) {
    const of = textOf(pool, 'name')
    if (of !== undefined && of !== 'worker' && of !== 'edge')
      config.tell({ id: 'machines', path: ['compute', index, 'name'], summary: `"${of}": it is worker or edge` })
    const count = fieldOf(pool, 'replicas')
    if (typeof count === 'number' && count < 0)
      config.tell({ id: 'machines', path: ['compute', index, 'replicas'], summary: 'it must not be negative' })
  }
}

/** Only what a baseline of None leaves open: what later baselines hold differs by release. */
function checkCapabilities(config: InstallConfigDocument, platform: string | undefined): void {
  const capabilities = fieldOf(config.value, 'capabilities')
  const baseline = textOf(capabilities, 'baselineCapabilitySet')
  const path = ['capabilities', 'baselineCapabilitySet']
  if (baseline !== undefined && !/^(?:None|vCurrent|v4\.\d+)$/.test(baseline))
    config.tell({
      id: 'capabilities',
      path,
      summary: `"${baseline}": it is None, vCurrent, or a minor version such as v4.18`,
    })
  if (baseline !== 'None') return
  const enabled = entriesOf(capabilities, 'additionalEnabledCapabilities')
  const need = (name: string, since: number, why: string) => {
    if (enabled.includes(name) || config.isBefore(since)) return
    const at = ['capabilities', 'additionalEnabledCapabilities']
    config.tell({
      id: 'capabilities',
      severity: config.severityFrom(since),
      path: at,
      summary: `add ${name}: ${why}`,
      part: 'key',
    })
  }
  if (enabled.includes('marketplace')) need('OperatorLifecycleManager', 15, 'marketplace needs it')
  if (platform === 'baremetal') need('baremetal', 11, 'the platform baremetal needs it')
  need('Ingress', 16, 'a cluster cannot be installed without it')
}
