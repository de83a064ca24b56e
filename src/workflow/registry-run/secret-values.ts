/** Which values in the files of a run are secrets. */
import { privateKeysIn } from '../../errors/private-key.ts'

const secretName =
  /password|passwd|passphrase|token|secret|credential|kubeconfig|private|pull-?secret|dockerconfig|auth\.json|\.(?:pem|key|p12|pfx|jks)$|^id_(?:rsa|ed25519|ecdsa|dsa)|^\.?awscred/i
const publicName = /\.(?:pub|crt|cert)$|publickey|certificate/i
const secretKey =
  /^(?:.*(?:password|passwd|passphrase|token|secret|credential|private[-_]?key|client-key-data|access[-_]?key(?:[-_]?id)?|api[-_]?key)|auth|key)$/i
const userinfo = /\b[a-z][a-z0-9+.-]*:\/\/([^\s/@'"]+)@/gi
/** `key: value` and `key = value`, quoted or not, also in the middle of a shell script (`export KEY='value'`). */
const assignment =
  /^[ \t]*(?:-[ \t]+)?(?:export[ \t]+)?["']?([\w.-]+)["']?[ \t]*[:=][ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\n]*?)),?[ \t]*$/gm
/** What stands alone in a URL is a token when it is so long. */
const minTokenLength = 20
/** Taken out of a log they would take its meaning with them. */
const ordinary = /^(?:true|false|yes|no|none|null|enabled|disabled|\d{1,5})$/i
/** Of a longer file nothing is read. */
export const maxSecretFileBytes = 256 * 1024

export interface SecretFile {
  readonly name: string
  readonly bytes: Uint8Array
  /** All that is in a directory of credentials is a secret; elsewhere the name of the file tells. */
  readonly isOfCredentials: boolean
}

/**
 * Of a file with one line all of it; of one with a structure the values whose names say that they are secret. Anywhere: user
 * and password of a URL, private keys.
 */
export function secretValuesOf(file: SecretFile): readonly string[] {
  return [...new Set(allValues(file))].filter((value) => value.trim() !== '' && !ordinary.test(value.trim()))
}

function allValues({ name, bytes, isOfCredentials }: SecretFile): readonly string[] {
  if (bytes.byteLength > maxSecretFileBytes || bytes.includes(0)) return []
  const text = Buffer.from(bytes).toString('utf8')
  const trimmed = text.trim()
  const values = [...userinfoOf(text), ...privateKeysIn(text)]
  const isSecret = (isOfCredentials || secretName.test(name)) && !publicName.test(name)
  if (!isSecret || trimmed === '') return values
  const fromJson = jsonValues(trimmed)
  if (fromJson !== undefined) return [...values, ...fromJson]
  const isOneLine = !trimmed.includes('\n')
  return [...values, ...(isOneLine ? [trimmed] : []), ...assignedValues(text)]
}

/** Of `https://user:password@host` the password, as it stands and decoded. The name of a user is none: `ssh://core@host`. */
function userinfoOf(text: string): readonly string[] {
  return [...text.matchAll(userinfo)].flatMap(([, pair = '']) => {
    const password = pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : pair
    return pair.includes(':') || pair.length >= minTokenLength ? [password, decoded(password)] : []
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function assignedValues(text: string): readonly string[] {
  return [...text.matchAll(assignment)].flatMap(([, key = '', double, single, plain]) => {
    const value = double ?? single ?? plain ?? ''
    return secretKey.test(key) && value !== '' ? [value] : []
  })
}

/** undefined for what is no JSON document. */
function jsonValues(text: string): readonly string[] | undefined {
  if (!/^[[{]/.test(text)) return undefined
  const values: string[] = []
  try {
    JSON.parse(text, (key, value: unknown) => {
      if (typeof value === 'string' && secretKey.test(key)) values.push(value, ...passwordOf(key, value))
      return value
    })
    return values
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** `auth` of a pull secret is base64 of `user:password`. */
function passwordOf(key: string, value: string): readonly string[] {
  if (key !== 'auth') return []
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.includes(':') ? [pair.slice(pair.indexOf(':') + 1)] : []
}
