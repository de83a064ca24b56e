/** What a schema says about the fields of an object, for messages and for reading a file as Go does. */
import * as z from 'zod'

/** The schema behind `optional`, `default` and `prefault`. */
export function bareSchema(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let current = schema
  while (current instanceof z.ZodOptional || current instanceof z.ZodDefault || current instanceof z.ZodPrefault)
    current = current.def.innerType
  return current
}

/** The fields of an object's schema; undefined where it is no object. */
export function shapeOf(schema: z.core.$ZodType | undefined): Readonly<Record<string, z.ZodType>> | undefined {
  const bare = bareSchema(schema)
  return bare instanceof z.ZodObject ? (bare.def.shape as Record<string, z.ZodType>) : undefined
}

/** The schema of the entries of a list; undefined where it is no list. */
export function elementOf(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  const bare = bareSchema(schema)
  return bare instanceof z.ZodArray ? bare.def.element : undefined
}

export function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let current: z.core.$ZodType | undefined = schema
  for (const step of path) current = elementOf(current) ?? shapeOf(current)?.[String(step)] ?? recordValueOf(current)
  return current
}

/** The schema of the values behind names that the user chooses; undefined where it has fields of its own. */
function recordValueOf(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  const bare = bareSchema(schema)
  return bare instanceof z.ZodRecord ? bare.def.valueType : undefined
}
