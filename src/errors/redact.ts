/**
 * Takes secrets out of text before it is stored anywhere.
 *
 * Used by the constructor of every error and finding and by the log, so that no later step has to remember it.
 */

const controls = /(?![\t\n])\p{Cc}/gu
const userinfo = /([a-z][a-z0-9+.-]*:\/\/)[^\s/]*@/gi
const authorization = /\b(basic|bearer)\s+[a-z0-9+/=._~-]{6,}/gi
const secretNames =
  'password|passwd|token|access_token|refresh_token|identitytoken|auth|secret|sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token'
const jsonSecrets = new RegExp(`("(?:${secretNames})"\\s*:\\s*")[^"]*`, 'gi')
const assignedSecrets = new RegExp(`\\b(${secretNames})=[^\\s&;,"]+`, 'gi')
const spokenSecrets = /\b(password|passwd|passphrase)(:\s*)[^\s,;"]+/gi

/** `text` with passwords, tokens and control characters replaced. Idempotent. */
export function redact(text: string): string {
  // Control characters go first: one inside the userinfo (user:pass\r@host) would split the authority and hide it.
  return text
    .replace(controls, '')
    .replace(userinfo, '$1')
    .replace(authorization, '$1 ***')
    .replace(jsonSecrets, '$1***')
    .replace(assignedSecrets, '$1=***')
    .replace(spokenSecrets, '$1$2***')
}
