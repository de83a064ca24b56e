/** Which token service may receive the credentials of which registry: docs/adr/0004. */
import { isIP } from 'node:net'

/**
 * True where the realm is the registry itself, or of the same organisation by its name (auth.docker.io for
 * registry-1.docker.io), or allowed by name. Never over plain HTTP when the registry speaks HTTPS.
 */
export function mayReceiveCredentials(realm: URL, origin: URL, allowedHosts: readonly string[]): boolean {
  if (origin.protocol === 'https:' && realm.protocol !== 'https:') return false
  if (realm.host === origin.host || allowedHosts.includes(realm.host)) return true
  if (realm.protocol !== 'https:') return false
  return sharesDomain(realm.hostname, origin.hostname)
}

/** Same name on another port, or under the same registrable domain. Addresses and single labels have no domain. */
function sharesDomain(one: string, other: string): boolean {
  if (one === other) return true
  const domain = registrableDomain(one)
  return domain !== undefined && domain === registrableDomain(other)
}

/**
 * The part of a host name that somebody bought. Without the public suffix list this errs on the side of "not the same":
 * a short second label under a country code (co.uk, com.cn) counts as a suffix, and so do the shared hosting domains below.
 */
function registrableDomain(hostname: string): string | undefined {
  const labels = hostname.replace(/\.$/, '').toLowerCase().split('.')
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || labels.length < 2) return undefined
  const [second = '', top = ''] = labels.slice(-2)
  const isSharedSuffix = (top.length === 2 && second.length <= 3) || sharedDomains.has(`${second}.${top}`)
  const size = isSharedSuffix ? 3 : 2
  return labels.length < size ? undefined : labels.slice(-size).join('.')
}

/** Domains below which different owners live side by side, and where registries are run. */
const sharedDomains = new Set([
  'amazonaws.com',
  'azurewebsites.net',
  'cloudapp.net',
  'cloudfront.net',
  'appspot.com',
  'github.io',
  'gitlab.io',
  'herokuapp.com',
  'nip.io',
  'sslip.io',
  'run.app',
  'fly.dev',
  'vercel.app',
  'windows.net',
])
