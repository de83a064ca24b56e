/**
 * What goes wrong in scripts of steps, seen by their lines: no shell is parsed here, so a rule looks only for what can
 * hardly mean anything else.
 */
import type { LintRule } from './lint-finding.ts'
import { misspelledCommand } from './misspelled-command.ts'

export interface ScriptSmell {
  readonly rule: LintRule
  /** From 1. */
  readonly line: number
  /** What is wrong there, after the name of the step. */
  readonly words: string
  readonly text: string
}

/** Seconds: who sleeps that long should ask whether it is there. */
const longSleepSeconds = 300

export function scriptSmells(script: string): readonly ScriptSmell[] {
  const state: ScriptState = { isTracing: /^#!.*sh\s+-\w*x/.test(script), loops: 0 }
  const hasTrap = setsTrap(script)
  return script.split('\n').flatMap((raw, index) => {
    if (/^\s*#/.test(raw)) return []
    follow(state, raw)
    const text = raw.trim()
    return rules.flatMap(({ rule, find }) => {
      const words = rule === 'steps.credentials-left' && hasTrap ? undefined : find(text, state)
      return words === undefined ? [] : [{ rule, words, line: index + 1, text: text.slice(0, 160) }]
    })
  })
}

const commandStart = /(?:^|[;&|({]\s*|\b(?:then|do|else)\s+)/.source

/** A trap that runs something; `trap - EXIT` and `trap ''` only take one away. */
export function setsTrap(script: string): boolean {
  return new RegExp(`${commandStart}\\s*trap\\s+(?!-(?:\\s|$)|-[lp]\\b|''\\s|""\\s)\\S`, 'm').test(
    script.replace(/^\s*#.*$/gm, ''),
  )
}

interface ScriptState {
  isTracing: boolean
  loops: number
}

function follow(state: ScriptState, line: string): void {
  for (const [word] of line.matchAll(/(?<![\w"'$./-])(?:do|done)(?![\w=./-])/g)) state.loops += word === 'do' ? 1 : -1
  state.loops = Math.max(0, state.loops)
  for (const [, sign] of line.matchAll(/\bset\s+([-+])(?:[a-zA-Z]*x|o\s+xtrace)/g)) state.isTracing = sign === '-'
}

interface LineRule {
  readonly rule: LintRule
  /** What is wrong with the line; undefined for nothing. */
  readonly find: (line: string, state: ScriptState) => string | undefined
}

const secretName = /\w*(?:password|passwd|secret|token|creds?|api_?key|access_key)\w*/.source
/** A variable of that name whose value is not a secret itself. */
const harmless =
  /(?:_|-)?(?:file|path|dir|name|url|uri|arn|id|type|count|namespace|command|cmd|args|opts|flags|select)$/i
const assigned = new RegExp(`(?:^|[\\s;])(${secretName})=["']?(?:\\$\\(|\`)`, 'i')
const given = /\s(?:--password|--token|--secret-key|-p)[= ]["']?\$\{?\w*(?:pass|token|secret|key)/i
const writtenTo =
  />>?\s*["']?([^\s"';|&<>]*(?:pull[-_]?secret|passw(?:or)?d|credentials?|htpasswd|token|id_rsa|awscred)[^\s"';|&<>]*)/i
/** Flags of curl without a value, so that `-sk` is told from `-okubeconfig`. */
const curlFlags = '[#046fgGiIjlLnNOqRsSvZ]*'
const insecureCurl = new RegExp(
  `\\bcurl\\b[^|;]*\\s(?:-${curlFlags}k(?:${curlFlags}k?)*[a-zA-Z]?|--insecure)(?=\\s|$|["')])`,
)

const latestImage = /(?<![\w.-])[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?\/[\w./-]+:latest(?![\w.-])/

const rules: readonly LineRule[] = [
  { rule: 'steps.blind-sleep', find: blindSleep },
  {
    rule: 'steps.misspelled-command',
    find: (line) => {
      const found = misspelledCommand(line)
      return found && `${found.written} is no command; ${found.meant} is`
    },
  },
  { rule: 'steps.traced-secret', find: tracedSecret },
  { rule: 'steps.credentials-left', find: credentialsLeft },
  {
    rule: 'steps.tls-unchecked',
    find: (line) => {
      const isUnchecked = insecureCurl.test(line) || /\bwget\b.*\s--no-check-certificate\b/.test(line)
      return isUnchecked ? 'takes any certificate' : undefined
    },
  },
  {
    rule: 'steps.host-key-unchecked',
    find: (line) => (/StrictHostKeyChecking[= ]\s*["']?(?:no|off)\b/i.test(line) ? 'takes any host key' : undefined),
  },
  {
    rule: 'steps.unpinned-image',
    find: (line) => {
      const [image] = latestImage.exec(line) ?? []
      return image && `runs or pulls ${image}`
    },
  },
]

function blindSleep(line: string, { loops }: ScriptState): string | undefined {
  const isLooping = loops > 0 || /\bdo\b.*\bsleep\b.*\bdone\b/.test(line)
  const slept = isLooping ? 0 : sleepSeconds(line)
  return slept >= longSleepSeconds ? `sleeps ${slept} s, whatever happens` : undefined
}

function tracedSecret(line: string, { isTracing }: ScriptState): string | undefined {
  const [, name = ''] = assigned.exec(line) ?? []
  const isSecret = (name !== '' && !harmless.test(name)) || given.test(line)
  return isTracing && isSecret ? `set -x is on where ${name || 'a secret'} gets its value` : undefined
}

/** SHARED_DIR is where steps leave things for others on purpose. */
function credentialsLeft(line: string): string | undefined {
  const [, target] = writtenTo.exec(line) ?? []
  const isHarmless = /SHARED_DIR|ARTIFACT_DIR|^\/dev\/|\/passwd$|credentials?[-_]?requests?|\.log$/i
  if (target === undefined || isHarmless.test(target)) return undefined
  return `writes ${target}, and no trap removes it`
}

const seconds: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }

/** The longest that a line sleeps; 0 where it does not, or for a time that is not written there. */
function sleepSeconds(line: string): number {
  const found = line.matchAll(new RegExp(`${commandStart}sleep\\s+["']?(\\d+(?:\\.\\d+)?)([smhd]?)(?![\\w.])`, 'g'))
  return Math.max(0, ...[...found].map(([, value, unit = '']) => Number(value) * (seconds[unit] ?? 1)))
}
