/** The JSON Schema of sallyport.yaml, as an editor uses it, against what loads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { configurationJsonSchema } from '../../src/config/json-schema.ts'
import { platformNames } from '../../src/config/site-platforms.ts'
import { siteVariants } from '../../src/config/site-stages.ts'
import { renderSiteTemplate } from '../../src/config/site-template.ts'

type Node = Readonly<Record<string, unknown>>

/** Every pattern in a schema. */
function patternsIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  const own = (node as Node)['pattern']
  return [...(typeof own === 'string' ? [own] : []), ...Object.values(node).flatMap(patternsIn)]
}

/** What an editor would underline: unknown fields, missing ones, texts that do not fit their pattern. */
function underlined(value: unknown, schema: Node, path = '$'): string[] {
  if (Array.isArray(value))
    return value.flatMap((one, index) => underlined(one, (schema['items'] ?? {}) as Node, `${path}[${index}]`))
  if (typeof value === 'string' && typeof schema['pattern'] === 'string')
    return new RegExp(schema['pattern'], 'u').test(value) ? [] : [`${path}: ${value}`]
  if (typeof value !== 'object' || value === null) return []
  const fields = (schema['properties'] ?? {}) as Readonly<Record<string, Node>>
  const others = schema['additionalProperties']
  const missing = ((schema['required'] ?? []) as readonly string[]).filter((name) => !Object.hasOwn(value, name))
  const within = Object.entries(value).flatMap(([name, one]) => {
    const of = fields[name] ?? (typeof others === 'object' ? (others as Node) : undefined)
    return of === undefined ? [`${path}.${name}: unknown`] : underlined(one, of, `${path}.${name}`)
  })
  return [...missing.map((name) => `${path}.${name}: missing`), ...within]
}

const schema = configurationJsonSchema('Site') as Node

test('an editor takes whatever sallyport init writes', () => {
  for (const variant of siteVariants) {
    for (const platform of platformNames) {
      const text = renderSiteTemplate({
        name: 'c1',
        baseDomain: 'lab.example.com',
        variant,
        platform,
        release: '4.18.9',
        registry: variant === 'proxy-only' ? undefined : 'mirror.lab:8443/ocp4',
        proxy: variant === 'proxy-only' ? 'http://proxy.lab:3128' : undefined,
      })
      assert.deepEqual(underlined(parse(text), schema), [], `${variant} on ${platform}`)
    }
  }
})

test('an editor underlines what does not load', () => {
  const told = underlined(
    { kind: 'Site', mirror: { registry: 'https://a' }, stages: { install: { timeout: '90' } }, nme: 1 },
    schema,
  )
  assert.deepEqual(told.sort(), [
    '$.baseDomain: missing',
    '$.mirror.registry: https://a',
    '$.name: missing',
    '$.nme: unknown',
    '$.platform: missing',
    '$.release: missing',
    '$.stages.install.timeout: 90',
    '$.variant: missing',
  ])
})

test('every pattern is one that editors compile', () => {
  const patterns = patternsIn(schema)
  assert.ok(patterns.length > 15)
  for (const pattern of patterns) assert.doesNotThrow(() => new RegExp(pattern, 'u'), pattern)
})
