/** The OperatorHub that is written, against the schema that the API server of a cluster checks it with. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { renderOperatorHub } from '../../src/openshift/operator-hub.ts'
import { complaintsOf } from './json-schema-check.ts'

const crd = new URL('../../../shared/data/installer/crds/0000_03_marketplace_01_operatorhubs.crd.yaml', import.meta.url)

test('the OperatorHub is one that a cluster takes, and every field of it is one that the cluster knows', (t) => {
  const file = fileURLToPath(crd)
  if (!existsSync(file)) return t.skip('the folder of real inputs is absent')
  const { spec } = parse(readFileSync(file, 'utf8'))
  const { name, schema } = spec.versions[0]
  const strict = closed(schema.openAPIV3Schema)
  const hub = parse(renderOperatorHub())
  assert.equal(hub.apiVersion, `${spec.group}/${name}`)
  assert.equal(hub.kind, spec.names.kind)
  const { metadata, ...rest } = hub
  assert.deepEqual(metadata, { name: 'cluster' })
  assert.deepEqual(complaintsOf(rest, strict), [])
  assert.deepEqual(
    complaintsOf({ ...rest, spec: { disableAllDefaultSources: 'yes', sources: [{ name: '' }] } }, strict),
    ['$.spec.disableAllDefaultSources: is no boolean', '$.spec.sources[0].name: "" does not fit'],
  )
  assert.deepEqual(complaintsOf({ ...rest, spec: { disabled: true } }, strict), ['$.spec: disabled is unknown'])
})

/** The API server drops fields that it does not know; here they are a complaint. */
function closed(schema: unknown): object {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return Object(schema)
  const entries = Object.entries(schema).map(([key, value]) => {
    return [key, typeof value === 'object' && value !== null ? closed(value) : value]
  })
  return { ...Object.fromEntries(entries), ...('properties' in schema && { additionalProperties: false }) }
}
