/** What `list releases` prints: the same lines as oc-mirror, with more beside them where there is room. */
import type { KnownError } from '../../errors/known-error.ts'
import type { UpdateRelease } from '../../openshift/graph/update-graph.ts'
import type { ListedChannel, ListedMinor } from '../../release/graph-listing.ts'
import { count } from './quantities.ts'

/** The releases of a channel for one architecture, or why they are not known. */
export interface ListedArchitecture {
  readonly architecture: string
  readonly releases: readonly UpdateRelease[]
  readonly failure?: KnownError
}

export function renderMinors(minors: readonly ListedMinor[]): string {
  const lines = minors.map(
    ({ version, channel, last }) => `  ${version}${isStable(channel) ? '' : beside(channel, last)}`,
  )
  return `Available OpenShift Container Platform release versions:\n${lines.map((line) => `${line}\n`).join('')}`
}

function isStable(channel: string): boolean {
  return channel.startsWith('stable-')
}

function beside(channel: string, last: string): string {
  return `  (${channel} only, up to ${last})`
}

export function renderChannels(version: string, channels: readonly ListedChannel[]): string {
  const width = Math.max(0, ...channels.map(({ name }) => name.length))
  const lines = channels.map(
    ({ name, releases, first, last }) =>
      `${name.padEnd(width)}  ${count(releases, 'release')} of ${version}: ${first === last ? first : `${first} to ${last}`}\n`,
  )
  return `Listing channels for version ${version}:\n\n${lines.join('')}`
}

export function renderReleases(channel: string, listed: readonly ListedArchitecture[]): string {
  const known = listed.filter(({ failure }) => failure === undefined)
  return known
    .map(({ architecture, releases }) => {
      const versions = releases.map(({ version }) => `${version}\n`)
      return `Channel: ${channel}\nArchitecture: ${architecture}\n${versions.join('')}`
    })
    .join('\n')
}

/** What `--json` prints of them. */
export function releasesDocument(channel: string, listed: readonly ListedArchitecture[]): object {
  return {
    channel,
    architectures: listed.map(({ architecture, releases, failure }) => ({
      architecture,
      releases: releases.map(({ version, payload, metadata: { url } }) => ({
        version,
        payload,
        ...(url !== undefined && { url }),
      })),
      ...(failure && { error: { code: failure.code, message: failure.message, hint: failure.hint } }),
    })),
  }
}
