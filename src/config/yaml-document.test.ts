import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import * as z from 'zod'
import { tempDir } from '../../testkit/temp-dir.ts'
import { parseYaml, readTextFile } from './yaml-document.ts'

const Schema = z.strictObject({
  name: z.string(),
  items: z.array(z.strictObject({ size: z.number(), label: z.string().optional() })).default([]),
})

function complaints(text: string): string[] {
  try {
    parseYaml({ file: 'x.yaml', text }, Schema)
  } catch (error) {
    assert.equal((error as Error & { code?: string }).code, 'CONFIG_INVALID')
    return (error as Error).message.split('\n')
  }
  return []
}

test('a file that is right gives its values, with the defaults filled in', () => {
  assert.deepEqual(parseYaml({ file: 'x.yaml', text: '# hello\nname: a\n' }, Schema), { name: 'a', items: [] })
})

test('every complaint stands at its line and column, in their order', () => {
  const text = 'name: 1\nitems:\n- size: big\n  labl: x\n- {}\n'
  const found = complaints(text)
  assert.deepEqual(
    found.map((line) => line.split(': ').slice(0, 2).join(': ')),
    ['x.yaml:1:7: name', 'x.yaml:3:9: items[0].size', 'x.yaml:4:3: items[0].labl', 'x.yaml:5:3: items[1].size'],
  )
  assert.match(found[2] ?? '', /did you mean "label"\?$/)
})

test('what is no YAML is refused where it stops to be', () => {
  assert.match(complaints('name: a\nitems: [\n').join(), /^x\.yaml:\d+:\d+: /)
  assert.match(complaints('name: a\n\tname: b\n').join(), /^x\.yaml:2:/)
})

test('an empty file lacks what must be there', () => {
  assert.match(complaints('').join(), /^x\.yaml:1:1: name: /)
  assert.match(complaints('# nothing\n').join(), /name: /)
})

test('a bomb of aliases is refused, not unfolded', () => {
  const levels = Array.from(
    { length: 12 },
    (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(', ')}]`,
  )
  assert.notDeepEqual(complaints(['l0: &l0 [x]', ...levels].join('\n')), [])
})

test('an alias within what it names, of nothing, or merged where no mapping is, is refused at a place', () => {
  assert.match(
    complaints('name: a\nitems: &all [*all]\n').join(),
    /^x\.yaml:2:14: the alias \*all stands within what it names/,
  )
  assert.match(complaints('name: *none\n').join(), /^x\.yaml:\d+:\d+: .*none/)
  assert.match(complaints('<<: a\n').join(), /^x\.yaml:\d+:\d+: /)
})

test('whatever text comes, the answer is a value or complaints with a place', () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .array(
        fc.constantFrom(
          'name: ',
          '- ',
          'items:',
          '\n',
          '  ',
          '{',
          ']',
          '"',
          '&a ',
          '*a',
          '1',
          ': ',
          '|',
          '? ',
          '!!x ',
          '<<: ',
          '[',
          '}',
          '---\n',
        ),
      )
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (input) => {
      for (const line of complaints(input)) assert.ok(line.length > 0)
    }),
    { numRuns: 500 },
  )
})

test('a file that cannot be read says why', async (t) => {
  const root = await tempDir(t)
  await assert.rejects(readTextFile(join(root, 'none')), { code: 'FILE_UNREADABLE', message: /there is no such file/ })
  await mkdir(join(root, 'dir'))
  await assert.rejects(readTextFile(join(root, 'dir')), { code: 'FILE_UNREADABLE', message: /it is a directory/ })
  await writeFile(join(root, 'file'), 'text')
  assert.equal(await readTextFile(join(root, 'file')), 'text')
})
