/**
 * Reads plain values as Go's JSON decoder reads them for oc-mirror, so that files which work there work here.
 *
 * The case of a field's name does not matter, an empty value is an absent one, and YAML 1.1's words for true and false
 * count where a boolean is wanted.
 *
 * Source: Go `encoding/json` (Unmarshal), sigs.k8s.io/yaml (YAML 1.1).
 */
import * as z from 'zod'
import { bareSchema, elementOf, shapeOf } from './schema-fields.ts'
import type { ValuePath } from './yaml-nodes.ts'

/** A field whose name is written in another case than the format's. */
export interface Respelling {
  /** Where it stands, as it is written. */
  readonly path: ValuePath
  readonly field: string
}

export interface GoReading {
  readonly value: unknown
  readonly respelt: readonly Respelling[]
  /** Fields that stand twice, in two spellings. */
  readonly doubled: readonly Respelling[]
}

const yesWords = new Set(['y', 'yes', 'on'])
const noWords = new Set(['n', 'no', 'off'])

export function readAsGo(value: unknown, schema: z.core.$ZodType): GoReading {
  const respelt: Respelling[] = []
  const doubled: Respelling[] = []

  function read(part: unknown, as: z.core.$ZodType | undefined, path: ValuePath): unknown {
    const element = elementOf(as)
    if (Array.isArray(part)) return part.map((entry, index) => read(entry, element, [...path, index]))
    if (part !== null && typeof part === 'object') return readObject(part, shapeOf(as), path)
    return bareSchema(as) instanceof z.ZodBoolean ? readBoolean(part) : part
  }

  function readObject(part: object, shape: ReturnType<typeof shapeOf>, path: ValuePath): object {
    const fields = new Map(Object.keys(shape ?? {}).map((field) => [field.toLowerCase(), field]))
    const result = new Map<string, unknown>()
    for (const [key, content] of Object.entries(part)) {
      const field = shape && Object.hasOwn(shape, key) ? key : (fields.get(key.toLowerCase()) ?? key)
      if (field !== key) respelt.push({ path: [...path, key], field })
      if (result.has(field)) doubled.push({ path: [...path, key], field })
      const isAbsent = content === null && shape?.[field] !== undefined
      if (!isAbsent) result.set(field, read(content, shape?.[field], [...path, key]))
    }
    return Object.fromEntries(result)
  }

  return { value: read(value, schema, []), respelt, doubled }
}

function readBoolean(part: unknown): unknown {
  const word = typeof part === 'string' ? part.toLowerCase() : ''
  if (yesWords.has(word)) return true
  return noWords.has(word) ? false : part
}
