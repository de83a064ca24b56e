/**
 * A copy of a config that can be shown to others: the same shape, and a marker in the place of every secret.
 *
 * Three steps: secrets are found by where they stand and how they look; what was found is looked for everywhere else, in every
 * encoding; and then the copy is opened again, down to the last wrapping, and refused where anything is left.
 */
import { KnownError } from '../../errors/known-error.ts'
import { readIgnitionConfig } from '../read-config.ts'
import { layersOf } from './layers.ts'
import { jsonLike } from './opened-bytes.ts'
import { Redactor } from './redactor.ts'
import { SecretLedger } from './secret-ledger.ts'

export interface RedactedConfig {
  readonly text: string
  /** How many different secrets were taken out. */
  readonly secrets: number
  /** Files and parts of the config that are not as they were. */
  readonly changed: readonly string[]
}

/**
 * @param fileName names the file in errors
 * @throws KnownError IGNITION_INVALID, REDACTION_INCOMPLETE where a secret would be left
 */
export function redactConfig(text: string, fileName: string): RedactedConfig {
  readIgnitionConfig(text, fileName)
  const original: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
  const ledger = new SecretLedger()
  const found = new Redactor(ledger, { isSweep: false }).tree(original)
  const swept = new Redactor(ledger, { isSweep: true }).tree(found)
  prove(swept, ledger, fileName)
  const copy = jsonLike(swept, text)
  readIgnitionConfig(copy, fileName)
  return { text: copy, secrets: ledger.size, changed: changedParts(original, swept) }
}

/** Nothing more is found, and nothing that was found is left. */
function prove(copy: unknown, ledger: SecretLedger, fileName: string): void {
  const again = new SecretLedger()
  const isStable = new Redactor(again, { isSweep: true }).tree(copy) === copy
  const layers = layersOf(copy)
  // One search in all of it is much quicker than many in its parts.
  const isLeft = ledger.isIn(layers.map(({ text }) => text).join('\n'))
  const place = isLeft ? layers.findLast(({ text }) => ledger.isIn(text))?.place : undefined
  if (isStable && place === undefined) return
  const where = place ?? changedParts(copy, new Redactor(again, { isSweep: false }).tree(copy))[0] ?? 'the config'
  throw new KnownError('REDACTION_INCOMPLETE', `${fileName}: a secret would be left in ${where}: nothing was written`, {
    details: { file: fileName, place: where },
  })
}

/** Files by their paths, units and users by their names, the rest by its keys. */
function changedParts(before: unknown, after: unknown, keys: readonly string[] = []): readonly string[] {
  if (before === after) return []
  const [old, own] = [fieldsOf(before), fieldsOf(after)]
  const name = own['path'] ?? (keys.length > 2 ? own['name'] : undefined)
  if (typeof name === 'string') return [name]
  const parts = Object.keys(own).flatMap((key) => changedParts(old[key], own[key], [...keys, key]))
  return parts.length > 0 ? [...new Set(parts)] : [keys.join('.')]
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
