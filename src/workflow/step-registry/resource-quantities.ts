/** Requests and limits of a step (openshift/ci-tools: pkg/validation/config.go `validateResourceRequirements`). */
import type { StepResources } from './model.ts'

const quantities = new Set(['cpu', 'memory', 'ephemeral-storage', 'ci-operator.openshift.io/shm', 'nvidia.com/gpu'])

/** Faults in the words of ci-tools. */
export function resourceFaults(field: string, { requests = {}, limits = {} }: StepResources): string[] {
  const isEmpty = Object.keys(requests).length === 0 && Object.keys(limits).length === 0
  return [
    ...listFaults(`${field}.limits`, limits),
    ...listFaults(`${field}.requests`, requests),
    ...(isEmpty ? [`'${field}' should have at least one request or limit`] : []),
  ]
}

function listFaults(field: string, list: Readonly<Record<string, string>>): string[] {
  return Object.entries(list).flatMap(([name, text]) => {
    if (name === 'devices.kubevirt.io/kvm') return text === '1' ? [] : [`${field}.${name}: must be 1`]
    if (!quantities.has(name)) return [`'${field}' specifies an invalid key ${name}`]
    const quantity = quantityOf(text)
    if (typeof quantity === 'string') return [`${field}.${name}: invalid quantity: ${quantity}`]
    if (quantity === 0) return [`${field}.${name}: quantity cannot be zero`]
    if (quantity < 0) return [`${field}.${name}: quantity cannot be negative`]
    const isLarge = name.endsWith('/shm') && quantity > 2e9
    return isLarge ? [`${field}.${name}: quantity cannot be greater than 2G`] : []
  })
}

const suffixes: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

const format = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
const parts = /^([-+]?)([0-9]*\.?[0-9]*)([eEinumkKMGTP]*[-+]?[0-9]*)$/

/** A quantity of Kubernetes as a number; where it is none, why (apimachinery: pkg/api/resource `ParseQuantity`). */
function quantityOf(text: string): number | string {
  const [whole, sign = '', digits = '', suffix = ''] = parts.exec(text) ?? []
  if (!whole) return `quantities must match the regular expression '${format}'`
  const factor = /^[eE][-+]?\d+$/.test(suffix) ? Number(`1${suffix}`) : suffixes[suffix]
  if (factor === undefined) return "unable to parse quantity's suffix"
  return Number(`${sign}1`) * Number(`0${digits}`) * factor
}
