/**
 * The one retry policy: what is worth making again, how often, and how long to wait between.
 *
 * Nothing else in Sallyport repeats a request, so that attempts never multiply.
 */
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { Log } from '../host/log.ts'

export interface RetryPolicy {
  /** How often the same request is made before its error is final. */
  readonly attempts: number
  /** The same, where not even a connection came about: a name that does not resolve, a port nobody listens on. */
  readonly connectAttempts: number
  /** Wait before the second attempt; doubled for every further one. */
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** The same wait before every attempt, instead of the two above. */
  readonly constantDelayMs?: number
  /** A `Retry-After` beyond this is an error to report, not a time to sleep. */
  readonly maxRetryAfterMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 6,
  connectAttempts: 3,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
  maxRetryAfterMs: 300_000,
}

export interface RetryContext {
  readonly policy: RetryPolicy
  readonly clock: Clock
  readonly log: Log
  /** In [0, 1): spreads clients that were all refused at the same moment. */
  readonly random: () => number
}

/**
 * Runs `action` until it succeeds, fails for good, or has failed too often. The last error is thrown as it is.
 *
 * @param action is told which attempt this is, from 1
 */
export async function withRetries<T>(
  context: RetryContext,
  action: (attempt: number) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action(attempt)
    } catch (error) {
      signal?.throwIfAborted()
      await beforeNextAttempt(context, error, { attempt, signal })
    }
  }
}

/**
 * Waits as long as the policy says after a failure.
 *
 * @throws the error itself when it is final
 */
export async function beforeNextAttempt(
  context: RetryContext,
  error: unknown,
  progress: { readonly attempt: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { policy, clock, log } = context
  if (!(error instanceof KnownError) || !error.retryable) throw error
  if (progress.attempt >= (neverConnected(error) ? policy.connectAttempts : policy.attempts)) throw error
  const asked = retryAfterOf(error)
  if (asked !== undefined && asked > policy.maxRetryAfterMs) throw error
  const waitMs = Math.max(asked ?? 0, delayMs(context, progress.attempt))
  log.info(`${error.message}; trying again in ${(waitMs / 1000).toFixed(1)} s (attempt ${progress.attempt + 1})`)
  await clock.sleep(waitMs, progress.signal)
}

function delayMs({ policy, random }: RetryContext, attempt: number): number {
  if (policy.constantDelayMs !== undefined) return policy.constantDelayMs
  const full = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1))
  return full / 2 + (random() * full) / 2
}

const connectCodes = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'ERR_CONNECT_TIMEOUT', 'ERR_PROXY']

function neverConnected(error: KnownError): boolean {
  return hasSystemCode(error.cause, ...connectCodes)
}

function retryAfterOf(error: KnownError): number | undefined {
  const seconds = error.details['retryAfterSeconds']
  return typeof seconds === 'number' ? seconds * 1000 : undefined
}

/**
 * `Retry-After` in milliseconds from now (RFC 9110 10.2.3: seconds, or an HTTP date); undefined where unreadable.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header.trim()) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
