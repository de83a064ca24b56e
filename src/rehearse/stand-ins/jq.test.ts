import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { peer } from '../../../testkit/peers.ts'
import { runJq } from './jq.ts'

const recordFilters = [
  `. += [
          {$timestamp,$preCommand,$postCommand,$stage,$phase,$result,$errorLine,$errorMessage} |
          reduce keys[] as $k (.; if .[$k] == "" then del(.[$k]) else . end)
        ]`,
  `. + [{$timestamp, $preCommand, $postCommand, $stage, $phase, $result, $errorLine, $errorMessage}
      | with_entries(select(.value != ""))]`,
]

test('a record gets the entry that the real jq gives it, to the byte', (t) => {
  const jq = peer(t, 'jq')
  if (!jq) return
  const text = fc.string({ unit: 'binary', maxLength: 20 }).map((one) => one.replaceAll(/[\0\ud800-\udfff\u007f]/g, ''))
  const names = ['timestamp', 'preCommand', 'postCommand', 'stage', 'phase', 'result', 'errorLine', 'errorMessage']
  const record = fc.array(fc.record({ phase: text, stage: text }, { noNullPrototype: true }), { maxLength: 3 })
  fc.assert(
    fc.property(
      record,
      fc.array(text, { minLength: 8, maxLength: 8 }),
      fc.constantFrom(...recordFilters),
      (entries, values, filter) => {
        const args = [...names.flatMap((name, index) => ['--arg', name, values[index] ?? '']), filter]
        const input = JSON.stringify(entries)
        assert.equal(runJq({ args, input }), execFileSync(jq, args, { input, encoding: 'utf8' }))
      },
    ),
    { numRuns: 40 },
  )
})

const inputs: readonly (readonly [args: readonly string[], input: unknown])[] = [
  [['-r', '.deployments[0].version'], { deployments: [{ version: '418.94' }] }],
  [['-r', '.deployments[0].version'], { deployments: [] }],
  [['.items[].status.provisioning.state'], { items: [{ status: { provisioning: { state: 'provisioned' } } }] }],
  [['-r', '.[0].Digest'], [{ Digest: 'sha256:0' }]],
  [['.status'], { status: { a: [1, { b: 2 }], c: {} } }],
  [
    ['-r', '.[].Digest as $digest | .[].RepoDigests[] | select(contains($digest))'],
    [{ Digest: 'sha256:1', RepoDigests: ['quay.io/a@sha256:2', 'quay.io/a@sha256:1'] }],
  ],
  [
    ['-r', '.[] | .Digest as $pulled | .RepoDigests[] | select(contains($pulled))'],
    [{ Digest: 'sha256:1', RepoDigests: ['quay.io/a@sha256:2', 'quay.io/a@sha256:1'] }],
  ],
]

for (const [args, input] of inputs) {
  test(`jq ${args.join(' ')} prints what the real one does`, (t) => {
    const jq = peer(t, 'jq')
    if (!jq) return
    const text = JSON.stringify(input)
    assert.equal(runJq({ args, input: text }), execFileSync(jq, args, { input: text, encoding: 'utf8' }))
  })
}

test('of nothing jq makes nothing', (t) => {
  const jq = peer(t, 'jq')
  if (!jq) return
  assert.equal(runJq({ args: ['.a'], input: '' }), execFileSync(jq, ['.a'], { input: '', encoding: 'utf8' }))
})

test('a filter that is not known here is told, not guessed', () => {
  assert.equal(runJq({ args: ['.a | map(.b)'], input: '{}' }), undefined)
  assert.equal(runJq({ args: ['.a', 'file.json', 'other.json'], input: '{}' }), undefined)
  assert.equal(runJq({ args: ['.a'], input: 'no JSON' }), undefined)
})
