/**
 * A config that somebody wants to look into, in whichever wrapping: Ignition itself, or a MachineConfig around it; and what
 * kind of config it is.
 *
 * Source: openshift/api `machineconfiguration/v1/types.go` (MachineConfigSpec); openshift/installer
 * `pkg/asset/ignition/machine/node.go` (pointer configs); openshift/machine-config-operator `pkg/server/server.go`.
 */
import { parse, YAMLError } from 'yaml'
import { KnownError } from '../../errors/known-error.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import { type ReadConfig, readIgnitionConfig } from '../../ignition/read-config.ts'
import { textAt, valueAt } from '../plain-record.ts'

export interface InspectedConfig extends ReadConfig {
  readonly kind: ConfigKind
  /** Of the MachineConfig around it. */
  readonly machineConfig?: MachineConfigFacts
}

export interface MachineConfigFacts {
  readonly name: string
  readonly role?: string
  /** What it asks for beside its Ignition config, as written: `fips: true`, `kernelArguments: a b`. */
  readonly asks: readonly string[]
}

/**
 * `bootstrap`: the first machine of an installation. `agent`: the live image of the agent-based installer. `pointer`: says
 * only where the real config is. `machine`: what the machine config server gives to a node, or a MachineConfig.
 */
export type ConfigKind = 'bootstrap' | 'agent' | 'pointer' | 'machine' | 'other'

/** @throws KnownError IGNITION_INVALID */
export function readInspected(text: string, fileName: string): InspectedConfig {
  const wrapping = wrappingOf(text, fileName)
  if (wrapping === undefined) {
    const read = readIgnitionConfig(text, fileName)
    return { ...read, kind: kindOf(read.config) }
  }
  // A MachineConfig that changes only the kernel has none.
  const own =
    valueAt(wrapping, 'spec', 'config', 'ignition', 'version') === undefined
      ? noConfig
      : valueAt(wrapping, 'spec', 'config')
  const read = readIgnitionConfig(JSON.stringify(own), fileName)
  return { ...read, kind: 'machine', machineConfig: machineConfigFacts(wrapping) }
}

const noConfig = { ignition: { version: '3.2.0' } }

function machineConfigFacts(document: unknown): MachineConfigFacts {
  const role = textAt(document, 'metadata', 'labels', 'machineconfiguration.openshift.io/role')
  const name = textAt(document, 'metadata', 'name') ?? ''
  const names = ['baseOSExtensionsContainerImage', 'extensions', 'fips', 'kernelArguments', 'kernelType', 'osImageURL']
  const asks = names.flatMap((key) => {
    const value = valueAt(document, 'spec', key)
    if (Array.isArray(value)) return value.length === 0 ? [] : [`${key}: ${value.join(' ')}`]
    return value === undefined || value === null || value === '' || value === false ? [] : [`${key}: ${String(value)}`]
  })
  return { name, ...(role !== undefined && { role }), asks }
}

/** The MachineConfig; undefined for what begins like Ignition, which is read by whoever knows that better. */
function wrappingOf(text: string, fileName: string): unknown {
  const isJson = /^\s*\{/.test(text)
  if (!isJson && /^variant:/m.test(text))
    throw new KnownError('IGNITION_INVALID', `${fileName}: this is Butane, from which Ignition is made`, {
      details: { file: fileName },
      hint: 'Translate it first: butane --strict FILE.bu > FILE.ign',
    })
  if (isJson && !/^\s*\{\s*"(?:apiVersion|kind|metadata|spec)"/.test(text)) return undefined
  if (!/\bkind"?\s*:\s*"?MachineConfig\b/.test(text)) return undefined
  try {
    return isJson ? JSON.parse(text) : parse(text, { logLevel: 'error' })
  } catch (cause) {
    if (!(cause instanceof SyntaxError) && !(cause instanceof YAMLError) && !(cause instanceof ReferenceError))
      throw cause
    throw new KnownError('IGNITION_INVALID', `${fileName}: no MachineConfig that can be read: ${cause.message}`, {
      details: { file: fileName },
      cause,
    })
  }
}

function kindOf(config: IgnitionConfig): ConfigKind {
  const paths = new Set((config.storage?.files ?? []).map(({ path }) => path))
  const units = new Set((config.systemd?.units ?? []).map(({ name }) => name))
  if (units.has('agent.service') && paths.has('/usr/local/bin/get-container-images.sh')) return 'agent'
  if (paths.has('/usr/local/bin/bootkube.sh') || units.has('bootkube.service')) return 'bootstrap'
  if (paths.has('/etc/mcs-machine-config-content.json') || paths.has('/etc/ignition-machine-config-encapsulated.json'))
    return 'machine'
  if (units.has('machine-config-daemon-firstboot.service') || paths.has('/etc/kubernetes/kubelet.conf'))
    return 'machine'
  return pointerTargets(config).length > 0 && paths.size + units.size < 10 ? 'pointer' : 'other'
}

export interface PointerTarget {
  readonly how: 'merge' | 'replace'
  /** Without user, password and signature. */
  readonly url: string
  /** What the machine config server is asked for: `master`, `worker`, the name of a pool. */
  readonly role?: string
  /** `HOST[:PORT]` */
  readonly host?: string
}

/** Where a config says that others are; what is inline in it is no target. */
export function pointerTargets({ ignition }: IgnitionConfig): readonly PointerTarget[] {
  const { merge = [], replace } = ignition.config ?? {}
  const all = [
    ...merge.map((resource) => ({ how: 'merge' as const, url: resource.source ?? '' })),
    { how: 'replace' as const, url: replace?.source ?? '' },
  ]
  return all.flatMap(({ how, url }) => {
    if (url === '' || url.startsWith('data:')) return []
    const role = /\/config\/([^/?]+)/.exec(url)?.[1]
    const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/?]+)/.exec(url)?.[1]
    // A presigned URL opens the door to whoever has it.
    const shown = url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/, '$1').replace(/\?.*$/s, '?…')
    return [{ how, url: shown, ...(role !== undefined && { role }), ...(host !== undefined && { host }) }]
  })
}
