import { KnownError } from '../../errors/known-error.ts'
import { redact } from '../../errors/redact.ts'

const bugHint = 'This is a bug in sallyport: please report it with the lines above.'

/** The same for `--json`: who reads it gets a document in every case. A bug has the code BUG, and its stack on standard error. */
export function errorDocument(error: unknown) {
  if (!(error instanceof KnownError)) {
    const message = redact(error instanceof Error ? error.message : String(error))
    return { error: { code: 'BUG', message, hint: bugHint, details: {} } }
  }
  const { code, message, hint, details } = error
  return { error: { code, message, hint, details } }
}

/** First line: what happened. Then the causes, and the next step. A bug keeps its stack. */
export function renderError(error: unknown): string {
  if (!(error instanceof KnownError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return `${redact(stack)}\n${bugHint}\n`
  }
  const lines = [`error ${error.code}: ${error.message}`]
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    // Often it was wrapped only for another hint.
    if (cause.message !== error.message) lines.push(`  because: ${redact(cause.message)}`)
  }
  lines.push(`  next: ${error.hint}`)
  return `${lines.join('\n')}\n`
}
