/** Where Ignition may fetch from (coreos/ignition `config/v3_N/types/url.go`). */
import { dataUrlFault } from '../data-url.ts'
import { parseGoUrl, queryValue } from '../go-url.ts'
import { messages } from './messages.ts'

/** Why a source is none in this version; undefined where it is one. */
export function sourceFault(source: string, minor: number): string | undefined {
  const url = parseGoUrl(source)
  if (!url) return messages.invalidUrl
  switch (url.scheme) {
    case 'http':
    case 'https':
    case 'tftp':
      return undefined
    case 'gs':
      return minor >= 2 ? undefined : messages.invalidScheme
    case 's3':
      return queryValue(url, 'versionId') === '' ? messages.invalidObjectVersion : undefined
    case 'arn':
      if (minor < 4) return messages.invalidScheme
      if (!isObjectArn(`arn:${url.opaque}`)) return messages.invalidArn
      return queryValue(url, 'versionId') === '' ? messages.invalidObjectVersion : undefined
    case 'data':
      return dataUrlFault(source)
    default:
      return messages.invalidScheme
  }
}

/** The same, where nothing is no fault. */
export function optionalSourceFault(source: string | null | undefined, minor: number): string | undefined {
  return source ? sourceFault(source, minor) : undefined
}

/** `arn:PARTITION:s3:REGION:ACCOUNT:BUCKET/KEY`, or with `accesspoint/NAME/KEY`. */
function isObjectArn(arn: string): boolean {
  const [, , service, , , ...resource] = arn.split(':')
  if (resource.length === 0 || service !== 's3') return false
  const slashes = arn.split('/').length - 1
  return slashes >= (resource.join(':').startsWith('accesspoint/') ? 2 : 1)
}
