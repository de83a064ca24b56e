/** Rules for the section `ignition` (coreos/ignition `config/v3_N/types/{ignition,tls,proxy}.go`). */
import type { IgnitionSection } from '../config.ts'
import { parseGoUrl } from '../go-url.ts'
import { messages } from './messages.ts'
import type { Place } from './place.ts'
import { sourceFault } from './source-rule.ts'

export function checkChildren({ merge = [] }: NonNullable<IgnitionSection['config']>, place: Place): void {
  if (place.minor === 0) return
  for (const [index, { source }] of merge.entries()) place.error(requiredSourceFault(source, place), 'merge', index)
}

type Tls = NonNullable<NonNullable<IgnitionSection['security']>['tls']>

export function checkTls({ certificateAuthorities = [] }: Tls, place: Place): void {
  if (place.minor === 0) return
  for (const [index, { source }] of certificateAuthorities.entries())
    place.error(requiredSourceFault(source, place), 'certificateAuthorities', index)
}

function requiredSourceFault(source: string | null | undefined, { minor }: Place): string | undefined {
  return source ? sourceFault(source, minor) : messages.sourceRequired
}

export function checkProxy({ httpProxy, httpsProxy }: NonNullable<IgnitionSection['proxy']>, place: Place): void {
  checkProxyUrl(httpProxy, 'httpProxy', place)
  if (checkProxyUrl(httpsProxy, 'httpsProxy', place) === 'http') place.warning(messages.insecureProxy, 'httpsProxy')
}

/** The scheme, where the proxy is one. */
function checkProxyUrl(text: string | null | undefined, field: string, place: Place): string | undefined {
  if (typeof text !== 'string') return undefined
  const url = parseGoUrl(text)
  if (url?.scheme === 'http' || url?.scheme === 'https') return url.scheme
  place.error(url ? messages.invalidProxy : messages.invalidUrl, field)
  return undefined
}
