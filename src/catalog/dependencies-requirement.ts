/**
 * What a bundle requires, in words, and whether another bundle gives it.
 *
 * As in OLM, a requirement is met by one bundle: `all` asks for one bundle that fulfils every part.
 *
 * Source: operator-framework/operator-lifecycle-manager `pkg/controller/registry/resolver/resolver.go` (predicateConverter).
 */
import type { BundleMeta, Constraint, Gvk, Requirement } from './meta.ts'
import { bundleVersion, catalogRange } from './select-versions.ts'

/** `unknown`: it hangs on an expression that is not evaluated here. */
export type Judgement = 'yes' | 'no' | 'unknown'

/** Whether `bundle` alone meets `requirement`. */
export function meets(bundle: BundleMeta, requirement: Requirement): Judgement {
  return judge(bundle, requirement.kind === 'constraint' ? requirement.constraint : requirement)
}

/** `the package cert-manager in >=1.12.2`, `the API Prometheus (monitoring.coreos.com/v1)` */
export function requirementText(requirement: Requirement): string {
  if (requirement.kind !== 'constraint') return constraintText(requirement)
  const text = constraintText(requirement.constraint)
  return requirement.text === '' ? text : `${text} (“${requirement.text.replaceAll(/\s+/g, ' ').trim()}”)`
}

function judge(bundle: BundleMeta, constraint: Constraint): Judgement {
  switch (constraint.kind) {
    case 'package':
      return bundle.package === constraint.package && isInRange(bundle, constraint.versionRange) ? 'yes' : 'no'
    case 'gvk':
      return bundle.provides.some((gvk) => isSame(gvk, constraint.gvk)) ? 'yes' : 'no'
    case 'all':
      return worst(constraint.of.map((part) => judge(bundle, part)))
    case 'any':
      return best(constraint.of.map((part) => judge(bundle, part)))
    case 'not':
      return worst(constraint.of.map((part) => opposite[judge(bundle, part)]))
    case 'cel':
    case 'unknown':
      return 'unknown'
  }
}

const opposite = { yes: 'no', no: 'yes', unknown: 'unknown' } as const

function worst(parts: readonly Judgement[]): Judgement {
  if (parts.includes('no')) return 'no'
  return parts.includes('unknown') ? 'unknown' : 'yes'
}

function best(parts: readonly Judgement[]): Judgement {
  if (parts.includes('yes')) return 'yes'
  return parts.includes('unknown') ? 'unknown' : 'no'
}

function isInRange({ version: text }: BundleMeta, range: string): boolean {
  const version = bundleVersion(text)
  return version !== undefined && (catalogRange(range)?.includes(version) ?? false)
}

function isSame(a: Gvk, b: Gvk): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind
}

function constraintText(constraint: Constraint): string {
  switch (constraint.kind) {
    case 'package':
      return `the package ${constraint.package} in ${constraint.versionRange}`
    case 'gvk':
      return `the API ${constraint.gvk.kind} (${constraint.gvk.group}/${constraint.gvk.version})`
    case 'all':
      return constraint.of.map(constraintText).join(' and ')
    case 'any':
      return `either ${constraint.of.map(constraintText).join(' or ')}`
    case 'not':
      return `not ${constraint.of.map(constraintText).join(' nor ')}`
    case 'cel':
      return `an operator for which ${constraint.rule} holds`
    case 'unknown':
      return `a constraint of the unknown kind ${constraint.name}`
  }
}
