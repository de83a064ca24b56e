import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bootstrapFindings } from '../../testkit/bootstrap-findings.ts'

/** Put together from parts, so that no file has them whole. */
const composed = ['api-unresolved', 'api-int-unresolved', 'unit-fails', 'unit-loops', 'unit-timed-out']

test('docs/rehearse.md names every finding of a rehearsal, and none besides', () => {
  const documented = new Set(
    [...readFileSync('docs/rehearse.md', 'utf8').matchAll(/`(rehearse\.[a-z-]+)`/g)].map(([, id]) => id),
  )
  const written = readdirSync('src/rehearse', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(join('src/rehearse', name), 'utf8').matchAll(/'(rehearse\.[a-z-]+)'/g)])
    .map(([, id]) => id)
  const expected = new Set([...written, ...composed.map((id) => `rehearse.${id}`)])
  assert.deepEqual([...documented].sort(), [...expected].sort())
})

test('every finding that the faults of the kit ask for is documented', () => {
  const text = readFileSync('docs/rehearse.md', 'utf8')
  assert.deepEqual(
    Object.keys(bootstrapFindings).filter((id) => !text.includes(`\`${id}\``)),
    [],
  )
})
