import { type ErrorCode, errorCodes } from './codes.ts'
import { redact } from './redact.ts'

type Details = Readonly<Record<string, string | number>>

interface KnownErrorOptions {
  /** Replaces the code's general hint where this place knows something better. */
  hint?: string
  /** The values behind the message, for `--json`: image, blob, host, status. Never a secret. */
  details?: Record<string, string | number | undefined>
  /** Overrides what the code says, for example when a registry said that it will not change its mind. */
  retryable?: boolean
  cause?: unknown
}

/**
 * A failure that Sallyport foresaw: a code to search for, a message with the values in it, and the next step.
 *
 * Anything else that reaches `cli/main.ts` is a bug and is printed with its stack. Message, hint and details are
 * redacted here, at the source, so that no caller can forget to.
 */
export class KnownError extends Error {
  override readonly name = 'KnownError'
  readonly code: ErrorCode
  readonly hint: string
  readonly details: Details
  readonly retryable: boolean

  constructor(code: ErrorCode, message: string, options: KnownErrorOptions = {}) {
    super(redact(message), { cause: options.cause })
    this.code = code
    this.hint = redact(options.hint ?? errorCodes[code].hint)
    this.details = redactDetails(options.details ?? {})
    this.retryable = options.retryable ?? errorCodes[code].retryable
  }

  get exitCode(): number {
    return errorCodes[this.code].exitCode
  }
}

function redactDetails(details: NonNullable<KnownErrorOptions['details']>): Details {
  const clean: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(details)) {
    if (value !== undefined) clean[name] = typeof value === 'string' ? redact(value) : value
  }
  return clean
}

/** True when `error` is a system error (`ENOENT`, `EEXIST`, …) with one of these codes. */
export function hasSystemCode(error: unknown, ...codes: string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
