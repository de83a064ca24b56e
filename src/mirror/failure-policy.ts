/** What a failed image means for the run: for each class of content fail, warn or skip. */
import { KnownError } from '../errors/known-error.ts'
import { failureBits } from './done.ts'
import type { FailedImage } from './failures.ts'
import type { ContentClass } from './selection.ts'

/**
 * `fail`: everything else is finished, and the exit status tells. `warn`: told as a hole, without a word in the exit status.
 * `skip`: the class is not attempted at all, and listed as left out.
 */
export type OnFailure = 'fail' | 'warn' | 'skip'

export type FailurePolicy = Readonly<Record<ContentClass, OnFailure>>

/** What is said for some of the classes, in a configuration or by a flag. */
export type PartialFailurePolicy = { readonly [Class in ContentClass]?: OnFailure | undefined }

const contentClasses: readonly ContentClass[] = ['release', 'operator', 'additional', 'helm']
const reactions: readonly string[] = ['fail', 'warn', 'skip'] satisfies OnFailure[]

/**
 * Reads `--on-failure release=fail,operator=warn`.
 *
 * @throws KnownError USAGE
 */
export function parseOnFailure(text: string): PartialFailurePolicy {
  const entries = text.split(',').map((part) => {
    const [name = '', reaction = '', ...more] = part.trim().split('=')
    if (!isClass(name) || !isReaction(reaction) || more.length > 0) throw notAPolicy(text, part)
    return [name, reaction] as const
  })
  const names = entries.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw notAPolicy(text, `${twice} twice`)
  return Object.fromEntries(entries)
}

function isClass(text: string): text is ContentClass {
  return Object.hasOwn(failureBits, text)
}

function isReaction(text: string): text is OnFailure {
  return reactions.includes(text)
}

function notAPolicy(text: string, part: string): KnownError {
  return new KnownError('USAGE', `--on-failure ${text}: "${part}" is not CLASS=REACTION`, {
    details: { flag: '--on-failure', value: text },
    hint: `Write classes (${Object.keys(failureBits).join(', ')}) with fail, warn or skip, for example --on-failure operator=warn,helm=skip.`,
  })
}

/** The later word wins; a class that nobody speaks of fails. */
export function failurePolicyOf(...said: readonly (PartialFailurePolicy | undefined)[]): FailurePolicy {
  const policy: Record<ContentClass, OnFailure> = {
    release: 'fail',
    operator: 'fail',
    additional: 'fail',
    helm: 'fail',
  }
  for (const one of said) {
    for (const [name, reaction] of Object.entries(one ?? {})) {
      if (isClass(name) && reaction !== undefined) policy[name] = reaction
    }
  }
  return policy
}

/** The classes that are not attempted. */
export function skippedClasses(policy: FailurePolicy): ReadonlySet<ContentClass> {
  return new Set(contentClasses.filter((name) => policy[name] === 'skip'))
}

/** oc-mirror's bit mask of the classes that failed and may not. */
export function exitStatusOf(failures: readonly FailedImage[], policy: FailurePolicy): number {
  return failures
    .filter(({ image }) => policy[image.class] === 'fail')
    .reduce((mask, { image }) => mask | failureBits[image.class], 0)
}
