import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readUnit } from './unit-syntax.ts'

test('options come with their sections, continued lines in one value', () => {
  const unit =
    '# c \\\nstill a comment\n[Unit]\nDescription = a b \n\n;x\n[Service]\nExecStart=/bin/a \\\n  b\nEmpty=\n'
  assert.deepEqual(readUnit(unit), {
    options: [
      { section: 'Unit', name: 'Description', value: 'a b' },
      { section: 'Service', name: 'ExecStart', value: '/bin/a \\\n  b' },
      { section: 'Service', name: 'Empty', value: '' },
    ],
  })
})

test('what stands before the first section is passed over', () => {
  assert.deepEqual(readUnit('nonsense\n'), { options: [] })
  assert.deepEqual(readUnit(''), { options: [] })
})

const faults: Readonly<Record<string, string>> = {
  '[Unit': 'unable to find end of section',
  '[Unit] x\n': 'found garbage after section name : "x"',
  '[Unit]\nDescription\n': 'unexpected newline encountered while parsing option name',
  '[Unit]\nDescription': 'EOF',
  [`[Unit]\nA=${'y'.repeat(3000)}`]: 'line too long (max 2048 bytes)',
  [`[Unit]\n#${'y'.repeat(2048)}\n`]: 'line too long (max 2048 bytes)',
}

test('what Ignition refuses is refused in its words', () => {
  for (const [unit, fault] of Object.entries(faults)) assert.deepEqual(readUnit(unit), { fault }, unit.slice(0, 40))
})

test('a line may be as long as systemd takes it', () => {
  assert.ok('options' in readUnit(`[Unit]\nA=${'y'.repeat(2000)}\n`))
})
