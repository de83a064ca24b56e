/** The pull secret that a cluster gets: no more than it needs. */
import { fieldOf, textOf } from '../config/loose-values.ts'
import type { SiteConfig } from '../config/site-configuration.ts'
import { KnownError } from '../errors/known-error.ts'

/** Texts of auth files, as podman and docker write them. */
export interface PullSecrets {
  /** For the mirror. */
  readonly mirror?: string | undefined
  /** For the registries of the release, as the vendor hands it out. */
  readonly release?: string | undefined
}

interface AuthEntry {
  readonly auth: string
}

/**
 * In a disconnected site that of the mirror alone, under the host and port that nodes ask: with more in it a hole in the mirror
 * would not show. Elsewhere also that of the release.
 *
 * @throws KnownError CONFIG_INVALID where a login is missing that the variant needs
 */
export function clusterPullSecret(site: SiteConfig, { mirror, release }: PullSecrets): string {
  const ofMirror = site.mirror && mirrorLogins(site.mirror, mirror)
  if (site.variant === 'disconnected') return jsonOf(ofMirror ?? {})
  const isWanted = release !== undefined || ofMirror === undefined
  const ofRelease = isWanted ? loginsOf(release, 'release.pullSecret') : {}
  return jsonOf({ ...ofRelease, ...ofMirror })
}

/** The host of a place at a registry, with its port. */
export function registryHost(place: string): string {
  return place.split('/')[0] ?? place
}

function mirrorLogins(
  { registry, service }: NonNullable<SiteConfig['mirror']>,
  text: string | undefined,
): Readonly<Record<string, AuthEntry>> {
  const host = registryHost(registry)
  if (text === undefined && service === 'embedded') {
    throw new KnownError('CONFIG_INVALID', `The login for ${host} is not there: Sallyport makes it with this mirror`, {
      hint: 'sallyport run disconnected makes it in stage 03, and renders install-config.yaml in stage 07. By hand name its auth file: --mirror-auth FILE.',
    })
  }
  const logins = loginsOf(text, 'mirror.credentials')
  const fitting = Object.entries(logins).filter(([key]) => key === host || key.startsWith(`${host}/`))
  if (fitting.length > 0) return Object.fromEntries(fitting)
  const others = Object.keys(logins).join(', ')
  throw invalid(
    `mirror.credentials: no login for ${host}, exactly by this name and port; there is one for ${others || 'nothing'}`,
  )
}

/** Of each registry only the login: an e-mail address has no use. */
function loginsOf(text: string | undefined, where: string): Readonly<Record<string, AuthEntry>> {
  if (text === undefined) throw invalid(`${where}: the pull secret of the cluster needs it, and it is not there`)
  const auths = fieldOf(parsed(text, where), 'auths')
  if (typeof auths !== 'object' || auths === null) throw invalid(`${where}: no auth file: it has no auths`)
  return Object.fromEntries(
    Object.entries(auths).flatMap(([host, entry]) => {
      const auth = textOf(entry, 'auth')
      return auth === undefined || auth === '' ? [] : [[host, { auth }]]
    }),
  )
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own words quote what it read, which is a secret.
    throw invalid(`${where}: it is no JSON`)
  }
}

function jsonOf(logins: Readonly<Record<string, AuthEntry>>): string {
  return JSON.stringify({ auths: Object.fromEntries(Object.entries(logins).sort(([a], [b]) => (a < b ? -1 : 1))) })
}

function invalid(message: string): KnownError {
  return new KnownError('CONFIG_INVALID', message, {
    hint: 'A login is written by podman login --authfile FILE HOST:PORT; name that file under secrets.',
  })
}
