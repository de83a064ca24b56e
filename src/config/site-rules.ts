/** What must hold between the fields of `sallyport.yaml`, beyond the form of each. */
import type * as z from 'zod'
import { type Finding, finding } from '../errors/finding.ts'
import { entriesOf, fieldOf, textOf } from './loose-values.ts'
import { nearest } from './nearest.ts'
import { checkSiteNetworks } from './site-network-rules.ts'
import { platformNames } from './site-platforms.ts'
import { isDomainName, isSecretName } from './site-values.ts'
import type { YamlFile } from './yaml-document.ts'

type Context = z.RefinementCtx
type Path = readonly (string | number)[]

/** For `superRefine`: also where the schema has found something. */
export function checkSite(site: unknown, context: Context): void {
  checkVariant(site, context)
  checkPlatform(site, context)
  checkNames(site, context)
  checkRelease(fieldOf(site, 'release'), context)
  checkMirror(site, context)
  checkSecrets(site, context)
  checkSiteNetworks(site, context)
}

/** What each variant needs, and why. */
const needs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  disconnected: { mirror: 'everything comes out of it', cluster: 'it is what is installed' },
  private: { cluster: 'it is what is installed' },
  'registry-only': { mirror: 'it is what is filled' },
  'proxy-only': { proxy: 'nodes reach out through it', cluster: 'it is what is installed' },
}

function checkVariant(site: unknown, context: Context): void {
  const variant = textOf(site, 'variant') ?? ''
  for (const [section, why] of Object.entries(needs[variant] ?? {})) {
    if (fieldOf(site, section) !== undefined) continue
    const message = `variant ${variant} needs the section ${section}, and it is missing: ${why}`
    context.addIssue({ code: 'custom', path: ['variant'], message })
  }
  if (variant !== 'proxy-only' || fieldOf(site, 'mirror') === undefined) return
  const message =
    'variant proxy-only has no mirror; take this section out, or write variant: disconnected (no way out) or private (both)'
  context.addIssue({ code: 'custom', path: ['mirror'], message })
}

function platformsIn(site: unknown): string[] {
  return platformNames.filter((name) => fieldOf(fieldOf(site, 'platform'), name) !== undefined)
}

function checkPlatform(site: unknown, context: Context): void {
  const names = platformsIn(site)
  const platform = fieldOf(site, 'platform')
  if (names.length === 0 && typeof platform === 'object' && platform !== null && Object.keys(platform).length === 0) {
    const message = `name one of ${platformNames.join(', ')}, for example none: {}`
    context.addIssue({ code: 'custom', path: ['platform'], message })
  }
  for (const name of names.slice(1)) {
    const message = `${names[0]} stands here already, and a cluster has one platform; keep one of the two`
    context.addIssue({ code: 'custom', path: ['platform', name], message })
  }
  const aws = fieldOf(platform, 'aws')
  if (textOf(aws, 'hostedZone') !== undefined && entriesOf(aws, 'subnets').length === 0) {
    const message = 'an existing zone needs existing subnets (subnets), and there are none: the installer refuses it'
    context.addIssue({ code: 'custom', path: ['platform', 'aws', 'hostedZone'], message })
  }
  const vsphere = fieldOf(platform, 'vsphere')
  const isTemplate = entriesOf(vsphere, 'failureDomains').some((one) => textOf(fieldOf(one, 'topology'), 'template'))
  if (textOf(vsphere, 'clusterOSImage') === undefined || !isTemplate) return
  const message = 'a failure domain has a template already, and the installer takes only one of the two; keep one'
  context.addIssue({ code: 'custom', path: ['platform', 'vsphere', 'clusterOSImage'], message })
}

/** Dots are for the platforms that are clouds: openshift/installer `pkg/types/validation/installconfig.go`. */
function checkNames(site: unknown, context: Context): void {
  const [name, baseDomain] = [textOf(site, 'name'), textOf(site, 'baseDomain')]
  if (name === undefined) return
  const [platform = ''] = platformsIn(site)
  if (name.includes('.') && ['vsphere', 'nutanix', 'baremetal'].includes(platform)) {
    const message = `"${name}" has a dot, and on ${platform} the name of a cluster must not; what is behind the dot belongs to baseDomain`
    context.addIssue({ code: 'custom', path: ['name'], message })
  }
  if (baseDomain === undefined || !isDomainName(baseDomain) || isDomainName(`api-int.${name}.${baseDomain}`)) return
  if (!isDomainName(name)) return
  const message = `api-int.${name}.${baseDomain} would be longer than a DNS name may be (253); shorten one of the two`
  context.addIssue({ code: 'custom', path: ['baseDomain'], message })
}

function checkRelease(release: unknown, context: Context): void {
  if (typeof release !== 'object' || release === null) return
  const [image, version, channel] = ['image', 'version', 'channel'].map((field) => textOf(release, field))
  const at = (field: string, message: string) => context.addIssue({ code: 'custom', path: ['release', field], message })
  if (image !== undefined) {
    for (const field of ['version', 'channel'] as const) {
      if (textOf(release, field) !== undefined)
        at(field, `image says which release it is, so ${field} cannot; keep one`)
    }
    return
  }
  if (version === undefined && channel === undefined) {
    const message = 'say which release: version (4.18.9), channel (stable-4.18: its newest), or image'
    context.addIssue({ code: 'custom', path: ['release'], message })
  }
  const ofChannel = /-(\d+\.\d+)$/.exec(channel ?? '')?.[1]
  const ofVersion = /^\d+\.\d+/.exec(version ?? '')?.[0]
  if (ofChannel === undefined || ofVersion === undefined || !isBefore(ofChannel, ofVersion)) return
  at(
    'channel',
    `${channel} has no version ${version}: it ends with ${ofChannel}; write ${channel?.replace(ofChannel, ofVersion)}`,
  )
}

/** Of two minor versions. A channel also has versions of the minors before it. */
function isBefore(a: string, b: string): boolean {
  const [[majorA = 0, minorA = 0], [majorB = 0, minorB = 0]] = [a.split('.').map(Number), b.split('.').map(Number)]
  return majorA < majorB || (majorA === majorB && minorA < minorB)
}

/** `localhost` in a configuration of nodes is the node. */
function checkMirror(site: unknown, context: Context): void {
  const registry = textOf(fieldOf(site, 'mirror'), 'registry') ?? ''
  const [host = ''] = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/]|$)/.exec(registry) ?? []
  if (host === '' || platformsIn(site)[0] === 'lab') return
  const message = `${host} is, on each node, the node itself; write the name or address that nodes reach the mirror by`
  context.addIssue({ code: 'custom', path: ['mirror', 'registry'], message })
}

/** Every name that is used stands under `secrets`. */
function checkSecrets(site: unknown, context: Context): void {
  const secrets = fieldOf(site, 'secrets')
  const known = typeof secrets === 'object' && secrets !== null ? Object.keys(secrets) : []
  for (const name of known.filter((one) => !isSecretName(one))) {
    const message = 'the name of a secret begins with a letter and has letters, digits, - and _, up to 63'
    context.addIssue({ code: 'custom', path: ['secrets', name], message })
  }
  for (const { path, name } of secretReferences(site)) {
    if (known.includes(name) || !isSecretName(name)) continue
    const meant = nearest(name, known)
    const help = meant === undefined ? 'add it there, with file: or env:' : `did you mean ${meant}?`
    context.addIssue({ code: 'custom', path: [...path], message: `secrets has no entry of this name; ${help}` })
  }
}

interface SecretReference {
  readonly path: Path
  readonly name: string
}

function secretReferences(site: unknown): SecretReference[] {
  const platform = fieldOf(site, 'platform')
  const vcenters = entriesOf(fieldOf(platform, 'vsphere'), 'vcenters')
  const holders: readonly [unknown, Path][] = [
    [fieldOf(site, 'release'), ['release', 'pullSecret']],
    [fieldOf(site, 'mirror'), ['mirror', 'credentials']],
    [fieldOf(site, 'bastion'), ['bastion', 'sshKey']],
    [fieldOf(site, 'proxy'), ['proxy', 'credentials']],
    [fieldOf(platform, 'aws'), ['platform', 'aws', 'credentials']],
    [fieldOf(fieldOf(platform, 'nutanix'), 'prismCentral'), ['platform', 'nutanix', 'prismCentral', 'credentials']],
    ...vcenters.map((vcenter, index): [unknown, Path] => [
      vcenter,
      ['platform', 'vsphere', 'vcenters', index, 'credentials'],
    ]),
  ]
  return holders.flatMap(([holder, path]) => {
    const name = textOf(holder, String(path.at(-1)))
    return name === undefined ? [] : [{ path, name }]
  })
}

/** What is read without effect, and what is better written in another way. */
export function siteNotes(site: unknown, file: YamlFile): Finding[] {
  const note = (path: Path, summary: string): Finding =>
    finding({
      id: 'config.site',
      severity: 'warning',
      summary: `${path.join('.')}: ${summary}`,
      where: file.placeOf(path, 'key'),
    })
  const isRegistryOnly = textOf(site, 'variant') === 'registry-only'
  const idle = isRegistryOnly ? ['cluster', 'bastion'].filter((section) => fieldOf(site, section) !== undefined) : []
  const image = textOf(fieldOf(site, 'release'), 'image') ?? '@'
  return [
    ...idle.map((section) =>
      note([section], 'variant registry-only installs no cluster, so this section has no effect'),
    ),
    ...(image.includes('@') ? [] : [note(['release', 'image'], 'a tag can be moved; name the image by its digest')]),
  ]
}
