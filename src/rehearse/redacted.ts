import { redact } from '../errors/redact.ts'

/** A plain value with every text in it redacted: journals of scripts and answers of registries say what they like. */
export function redacted<T>(value: T): T {
  return redactedValue(value) as T
}

function redactedValue(value: unknown): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map(redactedValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redactedValue(one)]))
}
