import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBoolean, readCount, readDay, readDurationMs } from './flag-values.ts'

test('durations are read as Go reads them', () => {
  const readings = {
    '0': 0,
    '0s': 0,
    '500ms': 500,
    '10s': 10_000,
    '1m30s': 90_000,
    '1.5h': 5_400_000,
    '2h0m1s': 7_201_000,
  }
  for (const [text, milliseconds] of Object.entries(readings)) assert.equal(readDurationMs(text), milliseconds, text)
  for (const text of ['', '10', 's', '10 s', '-1s', '1d', '10s!', 'x10s'])
    assert.throws(() => readDurationMs(text), { code: 'USAGE', hint: /1m30s/ }, text)
})

test('a day is one that the calendar has', () => {
  assert.equal(readDay('2026-11-21'), '2026-11-21')
  assert.equal(readDay('2024-02-29'), '2024-02-29')
  for (const text of ['', '21.11.2026', '2026-11-31', '2026-13-01', '2026-11-21T00:00', '26-11-21'])
    assert.throws(() => readDay(text), { code: 'USAGE', hint: /YYYY-MM-DD/ }, text)
})

test('counts are whole numbers from where they begin', () => {
  assert.equal(readCount(0)('0'), 0)
  assert.equal(readCount(1)('10'), 10)
  for (const text of ['0', '-1', '1.5', '1e3', '', 'ten', '0x10', '99999999999999999999'])
    assert.throws(() => readCount(1)(text), { code: 'USAGE' }, text)
})

test('booleans are those of Go', () => {
  assert.deepEqual(['true', 'T', '1', 'false', 'F', '0'].map(readBoolean), [true, true, true, false, false, false])
  for (const text of ['', 'yes', 'on', 'tRUE']) assert.throws(() => readBoolean(text), { code: 'USAGE' }, text)
})
