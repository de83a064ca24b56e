/** Secrets that stand in `sallyport.yaml` itself, where they do not belong. No finding repeats what was found. */
import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml'
import type { Finding } from '../errors/finding.ts'
import { configError } from './invalid-config.ts'
import { isSecretName } from './site-values.ts'
import type { YamlFile } from './yaml-document.ts'
import { formatPath } from './yaml-place.ts'

export interface InlineSecret {
  readonly finding: Finding
  readonly firstLine: number
  readonly lastLine: number
}

type Path = readonly (string | number)[]

/** Fields that hold a secret wherever people write them. */
const secretField =
  /(?:password|passwd|passphrase|pull_?secret|token|secret_?(?:access_?)?key|private_?key|access_?key(?:_?id)?)$|^auths?$/i

/** What a secret looks like: an auth file, a private key, user and password in a URL, a key of AWS, a password hash. */
const secretValue =
  /"auths?"\s*:|-----BEGIN [A-Z ]*PRIVATE KEY|:\/\/[^\s/@]*:[^\s/@]+@|\bA(?:KIA|SIA)[0-9A-Z]{16}\b|\$(?:2[aby]|5|6|y)\$\S+\$/

/** Fields of the format that name an entry of `secrets`. */
const referenceFields = new Set(['credentials', 'pullSecret', 'sshKey'])

export function inlineSecrets(file: YamlFile): readonly InlineSecret[] {
  return nodesIn(file.contents, []).flatMap(({ path, value }) => {
    if (!isSecret(path, value)) return []
    const where = file.placeOf(path, 'key')
    const end = isNodeWithEnd(value) ? value.range[1] : 0
    const lastLine = Math.max(where.line, file.source.text.slice(0, end).trimEnd().split('\n').length)
    const found = configError('config.inline-secret', `${formatPath(path)}: ${remedyFor(path)}`, where)
    return [{ finding: found, firstLine: where.line, lastLine }]
  })
}

/** True where the finding speaks of a place that one of the secrets takes up. */
export function isWithin({ where }: Finding, secrets: readonly InlineSecret[]): boolean {
  const line = where?.line ?? 0
  return secrets.some(({ firstLine, lastLine }) => firstLine <= line && line <= lastLine)
}

interface Entry {
  readonly path: Path
  readonly value: unknown
}

/** Every value, by its path; of a mapping that is a secret as a whole, not what is in it. */
function nodesIn(node: unknown, path: Path): Entry[] {
  if (isMap(node)) return node.items.flatMap((pair) => entry([...path, keyOf(pair)], pair.value))
  if (isSeq(node)) return node.items.flatMap((item, index) => entry([...path, index], item))
  return []
}

function entry(path: Path, value: unknown): Entry[] {
  return [{ path, value }, ...(isSecret(path, value) ? [] : nodesIn(value, path))]
}

function isSecret(path: Path, value: unknown): boolean {
  const field = String(path.at(-1))
  if (path[0] === 'secrets') return isSecretAmongSecrets(path, value)
  if (!isScalar(value)) return isMap(value) && /^(?:auths|pull_?secret)$/i.test(field)
  const text = value.value === null ? '' : String(value.value)
  if (text === '') return false
  if (secretValue.test(text)) return true
  const isReference = referenceFields.has(field) && path.length > 1 && isSecretName(text)
  return secretField.test(field) && !isReference
}

/** Only `file` and `env` stand there, and neither looks like a secret. */
function isSecretAmongSecrets([, , field]: Path, value: unknown): boolean {
  if (!isScalar(value) || value.value === null) return false
  return (field !== 'file' && field !== 'env') || secretValue.test(String(value.value))
}

function remedyFor(path: Path): string {
  const stands = 'a secret stands here in clear text'
  const put = 'put it into a file that only you can read (chmod 600)'
  if (path[0] === 'secrets') return `${stands}; ${put}, and write file: PATH here, or env: VARIABLE`
  if (path[0] === 'proxy' && path[1] === 'url')
    return `${stands}; take USER:PASSWORD out of the URL, ${put}, name it under secrets, and write that name as proxy.credentials`
  return `${stands}; ${put}, name it under secrets (NAME: {file: PATH}), and write only that name where it is used`
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}

function isNodeWithEnd(value: unknown): value is Node & { range: [number, number, number] } {
  return typeof value === 'object' && value !== null && 'range' in value && Array.isArray(value.range)
}
