import assert from 'node:assert/strict'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { tempDir } from '../../testkit/temp-dir.ts'
import { LogReader } from './log-reader.ts'

const stamp = '2026-11-21T16:00:00.123Z '

test('a log that grows in whatever pieces is shown whole, line by line, also without the times', async (t) => {
  const path = join(await tempDir(t), '1.log')
  const line = fc.string({ unit: fc.constantFrom('a', 'ß', '€', ' ', '2026-') })
  const log = fc.record({ lines: fc.array(line), hasEnd: fc.boolean(), cuts: fc.array(fc.nat(200)) })
  await fc.assert(
    fc.asyncProperty(log, fc.boolean(), async ({ lines, hasEnd, cuts }, isBare) => {
      const text = lines.map((each) => `${stamp}${each}`).join('\n') + (hasEnd && lines.length > 0 ? '\n' : '')
      const bytes = Buffer.from(text)
      const ends = [...cuts.filter((cut) => cut < bytes.byteLength), bytes.byteLength].sort((a, b) => a - b)
      await writeFile(path, '')
      const reader = new LogReader(path, { isBare })
      let shown = ''
      const print = (piece: string) => {
        assert.ok(piece.endsWith('\n'))
        shown += piece
      }
      for (const [index, end] of ends.entries()) {
        await appendFile(path, bytes.subarray(ends[index - 1] ?? 0, end))
        await reader.read(print, { isLast: index === ends.length - 1 })
      }
      const expected = lines.map((each) => `${isBare ? '' : stamp}${each}\n`).join('')
      assert.equal(shown, expected)
    }),
    { numRuns: 60 },
  )
})

test('a log that is not there yet is empty', async (t) => {
  const reader = new LogReader(join(await tempDir(t), 'none.log'), { isBare: true })
  await reader.read(() => assert.fail('there is nothing'), { isLast: true })
})
