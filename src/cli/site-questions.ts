/** Asks what a site is, on a terminal: only what no flag says. */
import type { PlatformName } from '../config/site-platforms.ts'
import { platformNames } from '../config/site-platforms.ts'
import { type SiteVariant, siteVariants } from '../config/site-stages.ts'
import type { SiteAnswers } from '../config/site-template.ts'
import { siteValues } from '../config/site-values.ts'
import { KnownError } from '../errors/known-error.ts'
import { type Terminal, TypedLines } from './typed-lines.ts'

/** What flags say. */
export interface GivenAnswers {
  readonly variant?: string
  readonly platform?: string
  readonly name?: string
  readonly baseDomain?: string
  readonly registry?: string
  readonly release?: string
  readonly proxy?: string
}

type Field = keyof GivenAnswers
type Answers = Partial<Record<Field, string>>

interface Question {
  readonly field: Field
  readonly flag: string
  /** Why it is asked, in one sentence. */
  readonly why: string
  readonly choices?: readonly string[]
  /** False where what was answered leaves nothing to ask. */
  readonly isAsked: (answers: Answers) => boolean
  /** '' for none. */
  readonly fallback: (answers: Answers) => string
  /** What is wrong with an answer; undefined where nothing is. */
  readonly fault: (answer: string) => string | undefined
}

const always = () => true
const schemaFault = (schema: (typeof siteValues)['clusterName']) => (answer: string) =>
  schema.safeParse(answer).error?.issues[0]?.message
const choiceFault = (choices: readonly string[]) => (answer: string) =>
  choices.includes(answer) ? undefined : `"${answer}" is none of ${choices.join(', ')}`

/** In the order in which they are asked. */
const questions: readonly Question[] = [
  {
    field: 'variant',
    flag: '--variant',
    why: 'How much of the world outside the cluster sees: nothing (disconnected), nothing is published (private), a filled mirror only (registry-only), through a proxy (proxy-only).',
    choices: siteVariants,
    isAsked: always,
    fallback: () => 'disconnected',
    fault: choiceFault(siteVariants),
  },
  {
    field: 'platform',
    flag: '--platform',
    why: 'Where it runs. lab plays all sides on this machine, and installs nothing.',
    choices: platformNames,
    isAsked: always,
    fallback: () => 'lab',
    fault: choiceFault(platformNames),
  },
  {
    field: 'name',
    flag: '--name',
    why: 'Name of the cluster: it becomes a part of its DNS names.',
    isAsked: always,
    fallback: ({ platform }) => (platform === 'lab' ? 'lab' : 'cluster1'),
    fault: schemaFault(siteValues.clusterName),
  },
  {
    field: 'baseDomain',
    flag: '--base-domain',
    why: 'Domain that this name stands in; it need not be known outside.',
    isAsked: always,
    fallback: () => 'example.com',
    fault: schemaFault(siteValues.domain),
  },
  {
    field: 'release',
    flag: '--release',
    why: 'Version (4.18.9), channel (stable-4.18: its newest), or image of the release.',
    isAsked: always,
    fallback: () => '4.18.9',
    fault: (answer) => (answer === '' ? 'a release must be named' : undefined),
  },
  {
    field: 'registry',
    flag: '--registry',
    why: 'Place of the mirror as the nodes name it: host:port/path.',
    isAsked: ({ variant }) => variant !== 'proxy-only',
    fallback: ({ variant, baseDomain }) => (variant === 'private' ? '' : `mirror.${baseDomain}:8443/ocp4`),
    fault: (answer) => (answer === '' ? undefined : schemaFault(siteValues.registry)(answer)),
  },
  {
    field: 'proxy',
    flag: '--proxy',
    why: 'Proxy that nodes reach out through: http://HOST:PORT, without user and password.',
    isAsked: ({ variant }) => variant === 'proxy-only',
    fallback: ({ baseDomain }) => `http://proxy.${baseDomain}:3128`,
    fault: (answer) => (URL.canParse(answer) ? undefined : `"${answer}" is no URL`),
  },
]

/** What flags say, and for the rest what a site has that nobody thought about. */
export function answersByDefault(given: GivenAnswers): SiteAnswers {
  const answers: Answers = { ...given }
  for (const { field, isAsked, fallback } of questions) {
    if (answers[field] === undefined && isAsked(answers)) answers[field] = fallback(answers)
  }
  return siteAnswers(answers)
}

/** Questions that no flag answers. */
export function openQuestions(given: GivenAnswers): readonly Question[] {
  return questions.filter(({ field, isAsked }) => given[field] === undefined && isAsked(given))
}

/** @throws KnownError INTERRUPTED at Ctrl-C, and where the input ends */
export async function askSite(given: GivenAnswers, terminal: Terminal): Promise<SiteAnswers> {
  const typed = new TypedLines(terminal)
  const answers: Answers = { ...given }
  try {
    for (const question of questions) {
      if (answers[question.field] !== undefined || !question.isAsked(answers)) continue
      answers[question.field] = await ask(question, answers, typed)
    }
  } finally {
    typed.close()
  }
  return siteAnswers(answers)
}

async function ask(question: Question, answers: Answers, typed: TypedLines): Promise<string> {
  const fallback = question.fallback(answers)
  const choices = question.choices ? ` (${question.choices.join(', ')})` : ''
  typed.tell(`${question.why}\n`)
  for (;;) {
    const line = await typed.next(`${question.flag.slice(2)}${choices} [${fallback || 'none'}]: `)
    const answer = line.trim() || fallback
    const fault = question.fault(answer)
    if (fault === undefined) return answer
    typed.tell(`  ${fault}\n`)
  }
}

function siteAnswers(answers: Answers): SiteAnswers {
  const { variant, platform, registry, proxy } = answers
  for (const { field, flag, fault } of questions) {
    const answer = answers[field]
    const wrong = answer === undefined ? undefined : fault(answer)
    if (wrong !== undefined) throw new KnownError('USAGE', `${flag}: ${wrong}`)
  }
  return {
    name: answers.name ?? '',
    baseDomain: answers.baseDomain ?? '',
    variant: variant as SiteVariant,
    platform: platform as PlatformName,
    release: answers.release ?? '',
    registry: registry || undefined,
    proxy: proxy || undefined,
  }
}
