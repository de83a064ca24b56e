import { KnownError } from '../errors/known-error.ts'

/** The error codes of distribution-spec, "Error Codes", and those that this registry adds for its own troubles. */
const statuses = {
  BLOB_UNKNOWN: 404,
  BLOB_UPLOAD_INVALID: 400,
  BLOB_UPLOAD_UNKNOWN: 404,
  DIGEST_INVALID: 400,
  MANIFEST_BLOB_UNKNOWN: 404,
  MANIFEST_INVALID: 400,
  MANIFEST_UNKNOWN: 404,
  NAME_INVALID: 400,
  NAME_UNKNOWN: 404,
  SIZE_INVALID: 400,
  UNAUTHORIZED: 401,
  DENIED: 403,
  UNSUPPORTED: 405,
  RANGE_INVALID: 416,
  DISK_FULL: 507,
  UNKNOWN: 500,
} as const

export type WireCode = keyof typeof statuses

interface RefusalOptions {
  /** Where the code's usual status is not the right one. */
  readonly status?: number
  readonly detail?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that is answered with an error: the client's business, not a failure of this program. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: WireCode
  readonly status: number
  readonly detail: unknown
  readonly headers: Readonly<Record<string, string>>

  constructor(code: WireCode, message: string, options: RefusalOptions = {}) {
    super(message)
    this.code = code
    this.status = options.status ?? statuses[code]
    this.detail = options.detail
    this.headers = options.headers ?? {}
  }

  /** The body in the form of distribution-spec, "Error Codes". */
  body(): string {
    const { code, message, detail } = this
    return JSON.stringify({ errors: [{ code, message, ...(detail !== undefined && { detail }) }] })
  }
}

/** What a failure below means to the client; undefined for one that nobody foresaw. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (!(error instanceof KnownError)) return undefined
  if (error.code === 'BLOB_DIGEST_MISMATCH')
    return new Refusal('DIGEST_INVALID', error.message, { detail: error.details })
  if (error.code === 'MANIFEST_INVALID') return new Refusal('MANIFEST_INVALID', error.message)
  if (error.code === 'DISK_FULL')
    return new Refusal(
      'DISK_FULL',
      'The disk of this registry is full. Nothing was stored; free space there and push again.',
    )
  return undefined
}
