import * as z from 'zod'
import { type Digest, isDigest } from './digest.ts'

/**
 * A digest in a document of JSON.
 *
 * @param error what is said of any other value
 */
export function digestText(error?: string) {
  return z.custom<Digest>((value) => typeof value === 'string' && isDigest(value), error)
}
