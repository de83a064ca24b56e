import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseServiceRecord, type ServiceRecordEntry, summariseServiceRecord } from './service-records.ts'

const corpus = '../shared/data/installer/service-records'

function entry(phase: string, more: Partial<ServiceRecordEntry> = {}): ServiceRecordEntry {
  return { timestamp: '2026-02-27T10:00:01Z', phase, ...more }
}

test('every record of real bootstraps is read whole', (t) => {
  if (!existsSync(corpus)) return t.skip(`${corpus} is not here`)
  for (const name of readdirSync(corpus).filter((one) => one.endsWith('.json'))) {
    const text = readFileSync(join(corpus, name), 'utf8')
    assert.deepEqual(parseServiceRecord(text), JSON.parse(text), name)
  }
  const whole =
    parseServiceRecord(readFileSync(join(corpus, 'bootkube-4.22dev-full-success-generated.json'), 'utf8')) ?? []
  const { starts, isSuccessful, openStage, stagesDone } = summariseServiceRecord(whole)
  assert.deepEqual({ starts, isSuccessful, openStage }, { starts: 1, isSuccessful: true, openStage: undefined })
  assert.equal(stagesDone.length, 21)
})

test('a record that is cut anywhere gives its whole entries', () => {
  const text = fc.stringMatching(/^[\w {}[\]"\\\n:/.-]{0,20}$/)
  const entries = fc.array(
    fc.record({ timestamp: text, phase: text, stage: text, errorMessage: text }, { noNullPrototype: true }),
    {
      maxLength: 5,
    },
  )
  fc.assert(
    fc.property(entries, fc.nat(), (all, at) => {
      const whole = JSON.stringify(all, undefined, 2)
      const cut = whole.slice(0, at % (whole.length + 1))
      const read = parseServiceRecord(cut)
      if (cut.trim() === '') return read === undefined
      assert.deepEqual(read, all.slice(0, read?.length))
      return cut !== whole || read?.length === all.length
    }),
  )
})

test('two starts without an end between them are one: a script loads the library twice', () => {
  const twice = [entry('service start'), entry('service start')]
  assert.equal(summariseServiceRecord(twice).starts, 1)
  const again = [...twice, entry('service end', { result: 'failure' }), entry('service start')]
  assert.equal(summariseServiceRecord(again).starts, 2)
})

test('a stage that fails in a loop is counted, and one that is open is named', () => {
  const failing = [
    entry('stage start', { stage: 'pull' }),
    entry('stage end', { stage: 'pull', result: 'failure', errorMessage: 'x509' }),
  ]
  const summary = summariseServiceRecord([
    entry('service start'),
    ...failing,
    ...failing,
    entry('stage start', { stage: 'pull' }),
  ])
  assert.deepEqual([...summary.failedStages], [['pull', 2]])
  assert.deepEqual([summary.openStage, summary.lastError, summary.isSuccessful], ['pull', 'x509', false])
})
