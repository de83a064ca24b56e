import { createHash } from 'node:crypto'

/** The first digits of the SHA-256 of a text: enough to tell names apart. */
export function shortHash(text: string, digits = 8): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

/**
 * A DNS label (RFC 1123) for a text: as it is where it is one, otherwise with a hash, so that two texts never share a name.
 *
 * @param maxLength 63 for most names in Kubernetes; less where something is put before it
 */
export function objectName(text: string, maxLength = 63): string {
  const clean = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  if (text !== '' && clean === text && text.length <= maxLength) return text
  const hash = shortHash(text)
  const head = clean.slice(0, maxLength - hash.length - 1).replaceAll(/-+$/g, '')
  return head === '' ? `x${hash}` : `${head}-${hash}`
}
