/** Requests to the web: what every one of them sends, what is tried again, and what a refusal is reported as. */
import { KnownError } from '../errors/known-error.ts'
import { answerError, connectionError } from './failure.ts'
import type { HttpAnswer } from './http-message.ts'
import { readBody } from './read-body.ts'
import { exchangeFollowing } from './redirect.ts'
import { type RetryContext, withRetries } from './retry.ts'
import type { Transport } from './transport.ts'
import { basicAuthorization } from './url-credentials.ts'

export type WebAnswer = HttpAnswer

export interface WebExchangeOptions {
  readonly transport: Transport
  readonly retries: RetryContext
  readonly isInsecure: boolean
}

export interface WebQuestion {
  readonly method: 'GET' | 'HEAD'
  readonly url: URL
  readonly what: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Any other status is an error. */
  readonly expect: readonly number[]
  readonly isBulk?: boolean
}

const redirectRules = { maxRedirects: 5, refusal: 'WEB_REFUSED' } as const

export class WebExchange {
  readonly #options: WebExchangeOptions

  constructor(options: WebExchangeOptions) {
    this.#options = options
  }

  get retries(): RetryContext {
    return this.#options.retries
  }

  /** Resolves with an answer of an expected status. Its body must be read, drained or destroyed. */
  send(question: WebQuestion): Promise<WebAnswer> {
    return withRetries(this.retries, (attempt) => this.sendOnce(question, attempt), question.signal)
  }

  /** The answer with its body: one that breaks off is asked for again. */
  read(question: WebQuestion, limit: number): Promise<{ answer: WebAnswer; bytes: Uint8Array }> {
    const once = async (attempt: number) => {
      const answer = await this.sendOnce(question, attempt)
      try {
        return { answer, bytes: await readBody(answer, limit, subjectOf(question)) }
      } catch (error) {
        throw connectionError({ ...subjectOf(question), url: answer.url, attempt }, error)
      }
    }
    return withRetries(this.retries, once, question.signal)
  }

  /** One attempt, for a caller who keeps count himself. */
  async sendOnce(question: WebQuestion, attempt: number): Promise<WebAnswer> {
    const { method, signal, expect, isBulk = false } = question
    const url = bare(question.url)
    const about = { ...subjectOf(question), url, attempt }
    // A redirect to another host leaves this header behind.
    const authorization = basicAuthorization(question.url)
    const headers = { 'user-agent': 'sallyport', ...(authorization && { authorization }), ...question.headers }
    const request = { method, url, headers, signal, isInsecure: this.#options.isInsecure, isBulk }
    try {
      const answer = await exchangeFollowing(this.#options.transport, request, redirectRules)
      if (expect.includes(answer.status)) return answer
      throw await answerError({ ...about, url: answer.url }, answer, this.retries.clock.now())
    } catch (error) {
      throw connectionError(about, error)
    }
  }
}

function subjectOf({ what, method }: WebQuestion) {
  return { subject: what, peer: 'web', method } as const
}

/** @throws KnownError WEB_REFUSED where this is no URL of the web */
function bare(url: URL): URL {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new KnownError('WEB_REFUSED', `${url.href}: only http:// and https:// can be read here`, {
      details: { url: url.href },
      hint: 'Write a URL that begins with https://.',
    })
  }
  const clean = new URL(url)
  clean.username = ''
  clean.password = ''
  return clean
}
