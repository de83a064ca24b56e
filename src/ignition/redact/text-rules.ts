/**
 * Secrets that can be told by how they look, in any text: keys, hashes, tokens, credentials in URLs, and what is assigned to a name
 * that says so.
 */
import { redactedAuth } from './registry-auth.ts'
import { isMarked, type SecretLedger } from './secret-ledger.ts'
import { isSecretName, isStandIn } from './secret-names.ts'

class TextRule {
  readonly #pattern: RegExp
  readonly #replace: (match: readonly (string | undefined)[], ledger: SecretLedger) => string

  /** @param replace gives the text in the place of a match, or the match itself */
  constructor(pattern: RegExp, replace: (match: readonly (string | undefined)[], ledger: SecretLedger) => string) {
    this.#pattern = pattern
    this.#replace = replace
  }

  readonly apply = (text: string, ledger: SecretLedger): string =>
    text.replace(this.#pattern, (...found: (string | number | undefined)[]) => {
      const end = found.findIndex((part) => typeof part === 'number')
      return this.#replace(found.slice(0, end) as (string | undefined)[], ledger)
    })

  readonly finds = (text: string): boolean => text.search(this.#pattern) >= 0
}

/** A rule whose match is the secret, but for what says of which kind it is and stands before it. */
function marking(pattern: RegExp, before: RegExp = /^/): TextRule {
  return new TextRule(pattern, ([match = ''], ledger) => {
    const kept = before.exec(match)?.[0] ?? ''
    const secret = match.slice(kept.length)
    return isMarked(secret) ? match : `${kept}${ledger.markerOf(secret)}`
  })
}

const privateKey = new TextRule(
  // In a string of a program its line ends can be two characters. One that is cut off goes on to the end.
  /(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)((?:\\r)?\\n|\r?\n[ \t]*|)([\s\S]*?)((?:(?:\\r)?\\n|\r?\n[ \t]*|)-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  ([match = '', begin = '', gap = '', body = '', end = ''], ledger) =>
    isMarked(body) || body.trim() === '' ? match : `${begin}${gap}${ledger.markerOf(body)}${end}`,
)

/** The comment behind it is somebody's name or address more often than not. */
const authorizedKey = new TextRule(
  /\b((?:sk-)?(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d+)(?:@openssh\.com)?) +(AAAA[\w+/]+={0,2})([^\S\n][^\n"'\\]*)?/g,
  ([, kind = '', key = '', comment], ledger) => `${kind} ${ledger.markerOf(key)}${comment?.trim() ? ' redacted' : ''}`,
)

const userinfo = new TextRule(
  /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/@"'<>\\]+)@/gi,
  ([match = '', scheme = '', credentials = ''], ledger) => {
    if (isMarked(credentials) || isStandIn(credentials, { isShell: true })) return match
    const colon = credentials.indexOf(':')
    if (colon >= 0) ledger.markerOf(percentDecoded(credentials.slice(colon + 1)))
    return `${scheme}${ledger.markerOf(credentials)}@`
  },
)

/** A password that is percent-encoded in a URL can stand elsewhere as it is. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A pull secret in a script, where it is no JSON by itself. */
const registryAuth = new TextRule(
  /(\\?["']?\bauth\\?["']?\s*:\s*\\?["']?)([\w+/-]{6,}={0,2})/g,
  ([match = '', head = '', value = ''], ledger) => `${head}${redactedAuth(value, ledger) ?? match.slice(head.length)}`,
)

/** `curl -u NAME:PASSWORD`, `skopeo --creds NAME:PASSWORD`. */
const option = new TextRule(
  /(?<=[\s"'])((?:-u|--user|--[a-z-]*creds)(?:[ \t]+|=)["']?[^\s:"'=]+:)([^\s"']+)/g,
  ([match = '', head = '', password = ''], ledger) =>
    isStandIn(password, { isShell: true }) || isMarked(password) ? match : `${head}${ledger.markerOf(password)}`,
)

const assignmentPattern =
  /(?<![\w$.-])(-{0,2}["']?[A-Za-z][\w.-]{1,60}["']?[ \t]*(?:=|:(?!\/\/))[ \t]*|--[a-z][a-z-]{1,40}[ \t]+)("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'`;,&<>(){}]+)/g

/**
 * For what has no fields that could be looked at.
 *
 * @param isShell true where `$word` is a variable
 */
export function assignmentRule({ isShell }: { readonly isShell: boolean }): TextRule {
  const rule: TextRule = new TextRule(assignmentPattern, ([match = '', head = '', value = ''], ledger) => {
    const [, quote = '', inner = ''] = /^(["']?)([\s\S]*?)\1$/.exec(value) ?? []
    // What is assigned to another name can be an assignment itself: Environment="TOKEN=…".
    if (!isSecretName(head.replace(/^-+|["'\s=:]/g, ''))) return `${head}${quote}${rule.apply(inner, ledger)}${quote}`
    const isNone = isMarked(inner) || isStandIn(inner, { isShell: isShell && quote !== "'" })
    return isNone ? match : `${head}${quote}${ledger.markerOf(inner)}${quote}`
  })
  return rule
}

/** What is nothing else, in bytes that are no text either. */
export const strongRules: readonly TextRule[] = [
  privateKey,
  marking(/\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|sha1|argon2i?d?)\$[./A-Za-z0-9$=,+-]{16,}/g, /^\$\w+\$/),
  marking(/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g),
  marking(/\bsha256~[\w-]{20,}/g, /^sha256~/),
  marking(/\b(?:gh[pousr]_\w{30,}|github_pat_\w{30,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})/g),
  marking(/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g),
]

export const textRules: readonly TextRule[] = [
  authorizedKey,
  userinfo,
  // Behind the word of a scheme stands prose too: a token has a digit somewhere.
  marking(/\b(?:basic|bearer)[ \t]+(?=\S*\d)[\w+/.~=-]{12,}/gi, /^\w+[ \t]+/),
  option,
  registryAuth,
]
