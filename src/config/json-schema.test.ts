import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configurationJsonSchema, schemaKinds } from './json-schema.ts'

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly description?: string
}

/** Every field, by its path. */
function fieldsOf(node: Node, path = ''): [string, Node][] {
  const own = Object.entries(node.properties ?? {}).map(([name, field]): [string, Node] => [`${path}.${name}`, field])
  const within = own.flatMap(([name, field]) => fieldsOf(field, name))
  return [...own, ...within, ...(node.items ? fieldsOf(node.items, `${path}[]`) : [])]
}

const required = {
  ImageSetConfiguration: ['kind', 'mirror'],
  DeleteImageSetConfiguration: ['kind', 'delete'],
  Site: ['kind', 'name', 'baseDomain', 'variant', 'platform', 'release'],
}

test('the schemas say what they are, and describe every field', () => {
  for (const kind of schemaKinds) {
    const schema = configurationJsonSchema(kind) as Node & { $schema: string; $id: string; required: string[] }
    assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema')
    assert.match(schema.$id, new RegExp(`:${kind}$`))
    assert.deepEqual(schema.required, required[kind])
    const fields = fieldsOf(schema)
    assert.ok(fields.length > 60)
    assert.deepEqual(
      fields.filter(([, { description }]) => !description).map(([path]) => path),
      [],
    )
  }
})

test('what a field may be stands in the schema where JSON Schema can say it', () => {
  const fields = new Map(
    fieldsOf(configurationJsonSchema('ImageSetConfiguration')) as [string, Record<string, unknown>][],
  )
  assert.deepEqual(fields.get('.mirror.platform.channels[].type')?.['enum'], ['ocp', 'okd'])
  assert.match('4.18.9', new RegExp(String(fields.get('.mirror.platform.channels[].minVersion')?.['pattern'])))
  const catalog = new RegExp(String(fields.get('.mirror.operators[].catalog')?.['pattern']))
  assert.match('quay.io:443/a/index@sha256:00', catalog)
  assert.doesNotMatch('quay.io:443/a/index', catalog)
  assert.equal(fields.get('.mirror.operators[].targetName')?.['deprecated'], true)
})
