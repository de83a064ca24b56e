import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { hasSystemCode } from '../errors/known-error.ts'
import type { Json } from '../journal/events.ts'
import type { SecretStore } from './secret-store.ts'
import { secretNamesIn } from './secret-store.ts'
import type { WorkflowStep } from './workflow.ts'

/** Computes digests of inputs: of everything that, changed, makes the success of a step stale. */
export class InputDigests {
  readonly #secrets: SecretStore
  /** By path; a file whose size and time of change are as before is not read again. */
  readonly #files = new Map<string, { readonly stamp: string; readonly digest: string }>()

  constructor(secrets: SecretStore) {
    this.#secrets = secrets
  }

  async of(step: WorkflowStep, input: Json): Promise<string> {
    const files = await Promise.all((step.files?.(input) ?? []).map((path) => this.#digestFile(path)))
    const secrets = await Promise.all(secretNamesIn(input).map((name) => this.#secrets.fingerprint(name)))
    const hash = createHash('sha256').update(canonicalJson([step.identity, input, files, secrets]))
    return `sha256:${hash.digest('hex')}`
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

/** The same text for the same value, in whatever order its fields stand. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const fields = Object.entries(value as Readonly<Record<string, Json>>).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`
}
