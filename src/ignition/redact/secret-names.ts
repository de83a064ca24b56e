/** Names of fields, variables and options whose values are secret. */

/** As they stand at the end of a name, without regard to case and to `-`, `_` and `.`: `AWS_SECRET_ACCESS_KEY`, `bindPassword`. */
const endings = [
  'password',
  'passwd',
  'passphrase',
  'passwordhash',
  'token',
  'secret',
  'secretkey',
  'accesskey',
  'accesskeyid',
  'accountkey',
  'sharedkey',
  'encryptionkey',
  'apikey',
  'privatekey',
  'clientkey',
  'clientkeydata',
  'keydata',
  'psk',
  'presharedkey',
  'wepkey0',
  'setcredential',
  'connectionstring',
  'sharedaccesssignature',
  'xamzsignature',
  'xamzcredential',
  'xgoogsignature',
  'xgoogcredential',
  'htpasswd',
]

/** Only as the whole name, or behind a separator: `bypass` is none. */
const words = ['pass', 'pwd', 'sig', 'pin']

export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[-_.]/g, '')
  if (endings.some((ending) => plain.endsWith(ending))) return true
  return words.includes(name.toLowerCase().split(/[-_.]/).at(-1) ?? '')
}

/**
 * What stands for a value, and is none: a template, a specifier, a path to where it is; in a shell a variable, too.
 *
 * @param isShell false where `$word` is a word like any other
 */
export function isStandIn(value: string, { isShell }: { readonly isShell: boolean }): boolean {
  return (
    /^(?:|true|false|null|nil|none|yes|no|\*+|!+)$/i.test(value) ||
    /^(?:\$\{[^}]*\}|\$\([^)]*\)|\{\{.*\}\}|<[\w -]+>|%[a-zA-Z])$/.test(value) ||
    /^\/(?:etc|opt|var|root|run|usr|tmp|home|proc|sys|dev|assets)\//.test(value) ||
    /^\/(?:[\w.-]+\/)+[\w-]+\.(?:ya?ml|json|conf|pem|crt|key|txt|env)$/.test(value) ||
    (isShell && /^(?:\$$|`|\$\(|(?:\$(?:\w+|\{[^}]*\}|[@*#?!-])|[/:._-])+$)/.test(value))
  )
}
