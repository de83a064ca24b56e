import { createLineFilter } from './line-filter.ts'
import { createSecretFilter, type SecretFilter } from './secret-filter.ts'
import type { SecretSet } from './secret-set.ts'

/** For output of programs: takes out the secrets that are known, in all their forms, and then what looks like one. */
export function createLogFilter(secrets: SecretSet | Iterable<string | Uint8Array>): SecretFilter {
  const known = createSecretFilter(secrets)
  const unknown = createLineFilter()
  return {
    push: (chunk) => unknown.push(known.push(chunk)),
    end: () => Buffer.concat([unknown.push(known.end()), unknown.end()]),
    add: (secret) => known.add(secret),
  }
}
