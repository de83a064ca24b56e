import type { HttpAnswer } from './http-message.ts'

/**
 * The next page of a list (RFC 8288 `Link: <…>; rel="next"`), or undefined at its end.
 *
 * Only within the same host: a list must not send us, and our credentials, elsewhere.
 */
export function nextPage({ headers, url }: HttpAnswer): URL | undefined {
  const { link } = headers
  const header = Array.isArray(link) ? link.join(', ') : (link ?? '')
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(header)?.[1]
  if (target === undefined || !URL.canParse(target, url)) return undefined
  const next = new URL(target, url)
  return next.origin === url.origin && next.href !== url.href ? next : undefined
}
