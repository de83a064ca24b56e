import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { peer } from '../../../testkit/peers.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { stepsBetween, unifiedDiff } from './text-diff.ts'

test('a changed line is told with three lines around it', () => {
  const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n'
  assert.deepEqual(unifiedDiff(before, before.replace('6', 'six')), [
    '@@ -3,7 +3,7 @@',
    ' 3',
    ' 4',
    ' 5',
    '-6',
    '+six',
    ' 7',
    ' 8',
    ' 9',
  ])
})

test('what begins or ends, and a missing line end, are told as diff tells them', () => {
  assert.deepEqual(unifiedDiff('', 'a\n'), ['@@ -0,0 +1 @@', '+a'])
  assert.deepEqual(unifiedDiff('a\nb\n', ''), ['@@ -1,2 +0,0 @@', '-a', '-b'])
  assert.deepEqual(unifiedDiff('a\n', 'a'), ['@@ -1 +1 @@', '-a', '+a', '\\ No newline at end of file'])
  assert.deepEqual(unifiedDiff('a', 'a'), [])
})

const line = fc.constantFrom('a', 'b', 'c', 'd', '')
const lines = fc.array(line, { maxLength: 12 })

/** The longest common subsequence, counted the slow way. */
function common(before: readonly string[], after: readonly string[]): number {
  const table = [...before, ''].map(() => new Array<number>(after.length + 1).fill(0))
  for (const [row, one] of before.entries())
    for (const [column, other] of after.entries())
      table[row + 1]?.splice(
        column + 1,
        1,
        one === other
          ? (table[row]?.[column] ?? 0) + 1
          : Math.max(table[row]?.[column + 1] ?? 0, table[row + 1]?.[column] ?? 0),
      )
  return table[before.length]?.[after.length] ?? 0
}

test('the steps lead from one text to the other, and keep as many lines as can be kept', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const steps = stepsBetween(before, after)
      const side = (sign: '-' | '+') => steps.filter((step) => step.sign !== sign).map((step) => step.line)
      assert.deepEqual(side('+'), before)
      assert.deepEqual(side('-'), after)
      assert.equal(steps.filter(({ sign }) => sign === ' ').length, common(before, after))
    }),
    { numRuns: 500 },
  )
})

test('patch makes the one text of the other', async (t) => {
  const program = peer(t, 'patch')
  if (program === undefined) return
  const folder = await tempDir(t)
  const text = fc
    .tuple(fc.array(line, { maxLength: 15 }), fc.boolean())
    .map(([all, hasEnd]) => all.join('\n') + (hasEnd && all.length > 0 ? '\n' : ''))
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const diff = unifiedDiff(before, after)
      if (diff.length === 0) return assert.equal(before, after)
      const [file, patch, out] = ['file', 'patch', 'out'].map((name) => join(folder, name)) as [string, string, string]
      await writeFile(file, before)
      await writeFile(patch, `--- file\n+++ file\n${diff.join('\n')}\n`)
      await promisify(execFile)(program, ['--quiet', '--force', '--output', out, file, patch])
      return assert.equal(await readFile(out, 'utf8'), after)
    }),
    { numRuns: 60 },
  )
})

test('texts that have nothing in common are told one after the other', () => {
  const side = (name: string) => `${Array.from({ length: 3000 }, (_, index) => `${name}${index}`).join('\n')}\n`
  const diff = unifiedDiff(side('a'), side('b'))
  assert.equal(diff.length, 6001)
  assert.equal(diff[3000], '-a2999')
})
