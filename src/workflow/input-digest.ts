import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { hasSystemCode } from '../errors/known-error.ts'
import type { Json } from '../journal/events.ts'
import type { SecretStore } from './secret-store.ts'
import { secretNamesIn } from './secret-store.ts'
import type { StepInputs } from './step-inputs.ts'
import type { WorkflowStep } from './workflow.ts'

/** More would make the line of the journal long: then the fields at the top stand for all that is in them. */
const mostParts = 64

/** Computes digests of inputs. */
export class InputDigests {
  readonly #secrets: SecretStore
  /** By path; a file whose size and time of change are as before is not read again. */
  readonly #files = new Map<string, { readonly stamp: string; readonly digest: string }>()
  /** By id of a step: an engine asks for all of them before each step, and most are as they were. */
  readonly #known = new Map<string, { readonly text: string; readonly inputs: StepInputs }>()

  constructor(secrets: SecretStore) {
    this.#secrets = secrets
  }

  async of(step: WorkflowStep, input: Json): Promise<StepInputs> {
    const paths = step.files?.(input) ?? []
    const names = secretNamesIn(input)
    const files = await Promise.all(paths.map((path) => this.#digestFile(path)))
    const secrets = await Promise.all(names.map((name) => this.#secrets.fingerprint(name)))
    const text = canonicalJson([step.identity, input, files, secrets])
    const known = this.#known.get(step.outline.id)
    if (known?.text === text) return known.inputs
    const values: readonly (readonly [string, Json])[] = [
      ...leavesOf(step.identity, 'step'),
      ...leavesOf(input, ''),
      ...paths.map((path, index) => [path, files[index] ?? ''] as const),
      ...names.map((name, index) => [`secret ${name}`, secrets[index] ?? ''] as const),
    ]
    const parts = Object.fromEntries(values.map(([name, value]) => [name, sha256(canonicalJson(value)).slice(0, 8)]))
    const inputs = { digest: `sha256:${sha256(text)}`, parts }
    this.#known.set(step.outline.id, { text, inputs })
    return inputs
  }

  async #digestFile(path: string): Promise<string> {
    try {
      const { size, mtimeMs, ino } = await stat(path)
      const stamp = `${ino} ${size} ${mtimeMs}`
      const known = this.#files.get(path)
      if (known?.stamp === stamp) return known.digest
      const hash = createHash('sha256')
      await pipeline(createReadStream(path), hash)
      const digest = hash.digest('hex')
      this.#files.set(path, { stamp, digest })
      return digest
    } catch (error) {
      if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return 'absent'
      throw error
    }
  }
}

function leavesOf(value: Json, path: string): readonly (readonly [string, Json])[] {
  const leaves = flatten(value, path, Number.POSITIVE_INFINITY)
  return leaves.length > mostParts ? flatten(value, path, 1) : leaves
}

function flatten(value: Json, path: string, depth: number): readonly (readonly [string, Json])[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject || depth === 0) return value === null ? [] : [[path === '' ? 'input' : path, value]]
  return Object.entries(value).flatMap(([name, field]) =>
    flatten(field, path === '' ? name : `${path}.${name}`, depth - 1),
  )
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The same text for the same value, in whatever order its fields stand. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const fields = Object.entries(value as Readonly<Record<string, Json>>).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`
}
