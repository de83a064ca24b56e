/**
 * What looks like a secret in a line of a log although nobody registered it: by the name beside it.
 *
 * A rule is only asked about the rest of a line from a sign on, so everything that it looks at begins with one.
 */
/** In lower case; what is read is compared without regard to case. None is as short as `://`. */
export const lineSigns: readonly string[] = [
  ...['akia', 'asia', 'authorization', 'bearer ', 'basic ', 'private key-----', '"auth', 'token=', '"token', '--token'],
  ...['secretaccesskey', 'secret_access_key', 'sessiontoken', 'session_token', 'security_token', 'security-token'],
  ...['x-auth-token', 'x-subject-token', 'x-vault-token', 'metadata-token', 'clientsecret', 'client_secret'],
  ...['accesstoken', 'access_token', 'refreshtoken', 'refresh_token', 'idtoken', 'id_token', 'identitytoken'],
  ...['userdata', 'user_data', 'user-data', 'password', '--password', 'passwd', 'passphrase'],
  ...['sig=', 'signature=', 'x-amz-credential=', 'secret=', '"secret'],
]

export const urlSign = '://'

const named = [
  'secret_?access_?key|session_?token|security[_-]?token|client_?secret|x-(?:auth|subject|vault)-token|metadata-token',
  '(?:access|refresh|id|identity)_?token|--token',
].join('|')
const jsonNames = `user[_-]?data|auth|password|passwd|passphrase|secret|token|${named}`
const assigned = 'auth|token|secret|sig|signature|x-amz-(?:signature|credential|security-token)'
const bare = `[^\\s"',;&\\\\]+`
const quoted = `"(?:[^"\\\\]|\\\\.)*"|'[^']*'`

const userinfo = /:\/\/[^\s/"']*@(?!sha256:)/g
const rules: readonly (readonly [RegExp, string])[] = [
  [userinfo, '://***@'],
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, '***'],
  [/(secret_?access_?key["']?\s+["']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/gi, '$1***'],
  [new RegExp(`((?:${jsonNames})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*`, 'gis'), '$1***'],
  // JSON in a string of JSON: every quote of it has backslashes.
  [new RegExp(`((?:${jsonNames})(\\\\{1,7})"\\s*:\\s*\\\\{1,7}").*?(?=\\2"|$)`, 'gis'), '$1***'],
  [new RegExp(`((?:${named})["']?\\s*[:=]\\s*["']?)${bare}`, 'gi'), '$1***'],
  [/(user[_-]?data\s*[:=]\s*["']?)[^\s"']{8,}/gi, '$1***'],
  [
    new RegExp(
      `((?:password|passwd|passphrase)=|(?:password|passwd|passphrase):\\s*)(?:${quoted}|[^\\s&;,"']+)`,
      'gis',
    ),
    '$1***',
  ],
  [new RegExp(`(--(?:password|token)\\s+)(?:${quoted}|[^\\s"']+)`, 'gis'), '$1***'],
  [new RegExp(`((?:${assigned})=)(?:${quoted}|[^\\s&;,"']+)`, 'gis'), '$1***'],
  [/(authorization["']?\s*[:=]\s*["']?)(?:[a-z][a-z0-9-]*\s+)?[^\s"',\\]+/gi, '$1***'],
  [/\b((?:basic|bearer)\s+)(?=\S*[0-9=])[a-z0-9+/=._~-]{6,}/gi, '$1***'],
  [/(private key-----).+?(?=-----end|$)/gis, '$1***'],
]

/**
 * The rest of a line from its first sign on, without what the rules find. Nothing else is altered, and the time that it takes
 * grows with the line, not faster: lines have a mebibyte here, so the redaction of messages (errors/redact.ts) is not for them.
 */
export function redactLine(line: string): string {
  return rules.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line)
}

/** The authority of a URL, from `://` on, without user and password. */
export function redactAuthority(text: string): string {
  return text.replace(userinfo, '://***@')
}

/** Where a private key begins that has its lines for itself (RFC 7468). */
export function beginsKey(line: string): boolean {
  return /private key-----\s*$/i.test(line) && !/-----end/i.test(line)
}
