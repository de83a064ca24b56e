/** What could not be brought, for people: by cause, because a registry that is down is one thing to mend, not two hundred. */
import type { Retry } from '../../flows/select-wanted.ts'
import { type FailurePolicy, failurePolicyOf } from '../../mirror/failure-policy.ts'
import type { FailedImage } from '../../mirror/failures.ts'
import { isMade } from '../../mirror/made-content.ts'
import { formatReference } from '../../oci/reference.ts'
import { count } from './quantities.ts'

const shownMessages = 5
const shownImages = 3

/** @param policy tells those that count apart from those that may fail and are holes only */
export function renderFailures(failures: readonly FailedImage[], policy: FailurePolicy = failurePolicyOf()): string[] {
  const isHole = ({ image }: FailedImage) => policy[image.class] === 'warn'
  return [
    ...renderCauses(
      'failed',
      failures.filter((failure) => !isHole(failure)),
    ),
    ...renderCauses('missing, as allowed', failures.filter(isHole)),
  ]
}

/** What `--retry-failed` found to try. */
export function renderRetry({ retry }: { readonly retry?: Retry }): string[] {
  if (!retry) return []
  const gone =
    retry.gone > 0 ? [`${count(retry.gone, 'image')} that failed in the last run: not asked for any more`] : []
  return retry.tried > 0 ? gone : [...gone, 'the last run left no failures: nothing was tried again']
}

function renderCauses(title: string, failures: readonly FailedImage[]): string[] {
  const causes = Map.groupBy(failures, causeOf)
  return [...causes.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const messages = [...Map.groupBy(group, ({ error }) => error.message)]
    const shown = messages.slice(0, shownMessages)
    const others = messages.slice(shownMessages).reduce((sum, [, same]) => sum + same.length, 0)
    return [
      `${title}: ${count(group.length, 'image')}, ${first.error.code}${atHost(first)}`,
      ...shown.flatMap(([message, same]) => [`    ${message}`, ...concerned(message, same)]),
      ...(others > 0 ? [`    and ${count(others, 'image')} more with this cause (--json lists them all)`] : []),
      `  next: ${first.error.hint}`,
    ]
  })
}

/** A hint may name the repository: where the host is known, that and its answer are the cause. */
function causeOf({ error: { code, hint, details } }: FailedImage): string {
  const { host, status } = details
  return JSON.stringify(host === undefined ? [code, hint] : [code, host, status])
}

function atHost({ error: { details } }: FailedImage): string {
  const { host, status } = details
  if (host === undefined) return ''
  return status === undefined ? ` at ${host}` : `: ${host} answered ${status}`
}

/** The images behind a message, where it does not name them: a blob that many share fails once for all. */
function concerned(message: string, group: readonly FailedImage[]): string[] {
  const names = [...new Set(group.map(nameOf))]
  if (names.length === 1 && message.startsWith(names[0] ?? '')) return []
  const more = names.length > shownImages ? ` and ${names.length - shownImages} more` : ''
  return [`      for ${names.slice(0, shownImages).join(', ')}${more}`]
}

/** What is made on this machine has a source that nobody wrote: it is named by what asked for it. */
function nameOf({ image: { source, why } }: FailedImage): string {
  return isMade(source) ? why : formatReference(source)
}
