/**
 * Which Kubernetes a chart is rendered for. Without a word about it Helm takes the one that it was built with, which may be
 * any, and refuses the charts that are for others.
 */

import { compare, minVersion, satisfies, validRange } from 'semver'
import { type Finding, finding } from '../errors/finding.ts'
import { kubernetesMinor } from '../openshift/kubernetes-minor.ts'
import type { Chart } from './chart-archive.ts'

/** Of OpenShift 4.20, where nobody says. */
const defaultVersion = '1.33.0'

/** The Kubernetes of an OpenShift release `4.18.9`, or of all in `stable-4.18`; undefined for what names none. */
export function kubeVersionOf(release: string): string | undefined {
  const minor = /(?:^|[-:])4\.(\d+)(?:\.|$)/.exec(release)?.[1]
  return minor === undefined ? undefined : `1.${kubernetesMinor(Number(minor))}.0`
}

/** The newest Kubernetes of the releases that a configuration asks for; undefined where it asks for none. */
export function kubeVersionFor({ release, channels = [] }: Releases): string | undefined {
  const named = [
    ...(release === undefined ? [] : [release]),
    ...channels.map(({ name, maxVersion }) => maxVersion ?? name),
  ]
  const versions = named.map(kubeVersionOf).filter((version) => version !== undefined)
  return versions.toSorted(compare).at(-1)
}

/** `platform` of a configuration. */
interface Releases {
  readonly release?: string | undefined
  readonly channels?: readonly { readonly name: string; readonly maxVersion?: string | undefined }[] | undefined
}

export interface ChosenVersion {
  readonly kubeVersion: string
  readonly findings: readonly Finding[]
}

/** The wanted version; for a chart that is not made for it, the newest other one that will do, so that its images are found. */
export function chooseKubeVersion(chart: Chart, wanted: string | undefined): ChosenVersion {
  const ranges = rangesOf(chart)
  const first = wanted ?? defaultVersion
  const fits = (version: string) => ranges.every((range) => satisfies(version, range, { includePrerelease: true }))
  if (fits(first)) return { kubeVersion: first, findings: [] }
  const minors = Array.from({ length: 60 }, (_, index) => `1.${60 - index}.0`)
  const lowest = ranges.map((range) => minVersion(range)?.version ?? first)
  const kubeVersion = [...minors, ...lowest].find(fits) ?? first
  if (wanted === undefined) return { kubeVersion, findings: [] }
  const unfit = finding({
    id: 'chart.kube-version',
    severity: 'warning',
    summary: `chart ${chart.name} ${chart.version} is for Kubernetes ${ranges.join(' and ')}, and the releases mirrored have ${wanted}`,
    remedy: 'Take a version of the chart that is for this cluster; Helm will not install this one.',
  })
  return { kubeVersion, findings: [unfit] }
}

/** Helm asks it of the charts within a chart too. What is no range here is left to Helm. */
function rangesOf({ kubeVersion, subcharts }: Chart): string[] {
  const own = kubeVersion?.replaceAll(',', ' ')
  return [...(own !== undefined && validRange(own) !== null ? [own] : []), ...subcharts.flatMap(rangesOf)]
}
