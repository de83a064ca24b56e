/**
 * Which manifests of a payload a cluster gets: by its profile, feature set, feature gates, major version and capabilities.
 *
 * Source: openshift/library-go `pkg/manifest/manifest.go:IncludeAllowUnknownCapabilities`, openshift/oc
 * `pkg/cli/admin/release/extract_tools.go:extractFeatureGatesFromFiles`.
 */

import { isRecord } from '../openshift/plain-record.ts'
import type { Capabilities } from './capabilities.ts'
import type { Manifest } from './extract-manifests.ts'

/** What decides. A part that is absent excludes nothing. */
export interface Inclusion {
  /** `self-managed-high-availability`, unless something else is made of the release. */
  readonly profile: string
  /** `Default` where install-config says nothing. */
  readonly featureSet: string
  readonly featureGates?: ReadonlySet<string>
  readonly majorVersion?: number
  readonly capabilities?: Capabilities
}

export const usualProfile = 'self-managed-high-availability'

const annotation = {
  featureSet: 'release.openshift.io/feature-set',
  featureGate: 'release.openshift.io/feature-gate',
  majorVersion: 'release.openshift.io/major-version',
  capability: 'capability.openshift.io/name',
} as const

/** openshift/api `features/features.go:AllFeatureSets`, and `CustomNoUpgrade`. */
const knownFeatureSets = ['Default', 'TechPreviewNoUpgrade', 'DevPreviewNoUpgrade', 'OKD', 'CustomNoUpgrade']

/** Why a cluster does not get the manifest; undefined where it does. */
export function whyExcluded(manifest: Manifest, inclusion: Inclusion): string | undefined {
  const { annotations } = manifest
  if (!annotations) return 'it has no annotations'
  return (
    excludedByBoth(annotations, inclusion) ??
    excludedByFeatureSet(annotations, inclusion) ??
    excludedByFeatureGate(annotations, inclusion) ??
    excludedByMajorVersion(manifest, annotations, inclusion) ??
    excludedByProfile(annotations, inclusion) ??
    excludedByCapability(annotations, inclusion)
  )
}

type Annotations = Readonly<Record<string, string>>

function excludedByBoth(annotations: Annotations, { featureGates }: Inclusion): string | undefined {
  const hasBoth = annotation.featureSet in annotations && annotation.featureGate in annotations
  return featureGates && hasBoth ? 'it names both a feature set and a feature gate' : undefined
}

function excludedByFeatureSet(annotations: Annotations, { featureSet }: Inclusion): string | undefined {
  const value = annotations[annotation.featureSet]
  if (value === undefined) return undefined
  const sets = value.split(',')
  const unknown = sets.find((set) => !knownFeatureSets.includes(set))
  if (unknown !== undefined) return `it is for a feature set that is unknown: ${unknown}`
  return sets.includes(featureSet || 'Default') ? undefined : `it is for the feature set ${value}`
}

function excludedByFeatureGate(annotations: Annotations, { featureGates }: Inclusion): string | undefined {
  for (const gate of listOf(annotations[annotation.featureGate])) {
    if (!featureGates) return undefined
    const isUnwanted = gate.startsWith('-')
    const name = isUnwanted ? gate.slice(1) : gate
    if (featureGates.has(name) === isUnwanted) return `it is for clusters ${isUnwanted ? 'without' : 'with'} ${name}`
  }
  return undefined
}

function excludedByMajorVersion(
  { apiVersion, kind }: Manifest,
  annotations: Annotations,
  { majorVersion }: Inclusion,
): string | undefined {
  const value = annotations[annotation.majorVersion]
  if (value === undefined || majorVersion === undefined) return undefined
  const [group] = apiVersion.split('/')
  const mayName =
    (group === 'config.openshift.io' && kind === 'FeatureGate') ||
    (group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition')
  if (!mayName) return `it names a major version, which a ${kind} may not`
  const versions = listOf(value)
  if (versions.some((version) => !/^-?\d+$/.test(version))) return `its major versions are no numbers: ${value}`
  const wanted = versions.filter((version) => !version.startsWith('-')).map(Number)
  const unwanted = versions.filter((version) => version.startsWith('-')).map((version) => Number(version.slice(1)))
  if (wanted.some((version) => unwanted.includes(version))) return `it is for and against a major version: ${value}`
  if (wanted.includes(majorVersion)) return undefined
  return unwanted.includes(majorVersion) || wanted.length > 0 ? `it is for major version ${value}` : undefined
}

function excludedByProfile(annotations: Annotations, { profile }: Inclusion): string | undefined {
  const value = annotations[`include.release.openshift.io/${profile}`]
  if (value === 'true') return undefined
  return value === undefined ? `it is not for the profile ${profile}` : `for the profile ${profile} it says ${value}`
}

function excludedByCapability(annotations: Annotations, { capabilities }: Inclusion): string | undefined {
  const value = annotations[annotation.capability]
  if (!capabilities || !value) return undefined
  const names = value.split('+')
  const unknown = names.filter((name) => !capabilities.known.includes(name))
  if (unknown.length > 0) return `the release does not know the capability ${unknown.join(', ')}`
  const disabled = names.filter((name) => !capabilities.enabled.includes(name))
  return disabled.length > 0 ? `the capability ${disabled.join(', ')} is not enabled` : undefined
}

function listOf(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** The feature gates that the payload itself enables for a profile and feature set. */
export function enabledFeatureGates(
  manifests: readonly Manifest[],
  { profile, featureSet, majorVersion }: Pick<Inclusion, 'profile' | 'featureSet' | 'majorVersion'>,
): ReadonlySet<string> {
  const applying = manifests.filter(({ apiVersion, kind, annotations }) => {
    if (apiVersion !== 'config.openshift.io/v1' || kind !== 'FeatureGate' || !annotations) return false
    const majors = annotations[annotation.majorVersion]
    return (
      // The cluster version operator passes over them for this value; the config operator applies them.
      annotations[`include.release.openshift.io/${profile}`] === 'false-except-for-the-config-operator' &&
      annotations[annotation.featureSet] === (featureSet || 'Default') &&
      (majors === undefined || listOf(majors).includes(String(majorVersion)))
    )
  })
  return new Set(applying.flatMap(({ object }) => gatesIn(object())))
}

function gatesIn({ status }: Readonly<Record<string, unknown>>): string[] {
  const versions = isRecord(status) && Array.isArray(status['featureGates']) ? status['featureGates'] : []
  return versions
    .filter(isRecord)
    .flatMap(({ enabled }) =>
      (Array.isArray(enabled) ? enabled : [])
        .filter(isRecord)
        .flatMap(({ name }) => (typeof name === 'string' ? [name] : [])),
    )
}
