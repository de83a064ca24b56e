import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { TypedLines } from './typed-lines.ts'

function typed() {
  const [input, output] = [new PassThrough(), new PassThrough()]
  return { input, lines: new TypedLines({ input, output }) }
}

test('lines that come before they are asked for are not lost', async () => {
  const { input, lines } = typed()
  input.write('a\nb\nc\n')
  const answers = [await lines.next('1? '), await lines.next('2? '), await lines.next('3? ')]
  lines.close()
  assert.deepEqual(answers, ['a', 'b', 'c'])
})

test('where the input ends while an answer is waited for, and after, it is interrupted', async () => {
  const { input, lines } = typed()
  const waiting = lines.next('1? ')
  input.end()
  await assert.rejects(waiting, { code: 'INTERRUPTED' })
  await assert.rejects(lines.next('2? '), { code: 'INTERRUPTED' })
})
