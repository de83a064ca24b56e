import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readAnyYaml } from './registry-yaml.ts'
import { readSimpleYaml } from './simple-yaml.ts'

const key = fc.constantFrom('as', 'env', 'name', 'default', 'steps', 'A_B', 'cpu.x', 'on', 'y', 'null')
const scalar = fc.oneof(
  fc.constantFrom(
    'yes',
    'No',
    '4.10',
    '010',
    '0x1F',
    '1_000',
    '08',
    '~',
    'null',
    '',
    '10m',
    '2Gi',
    '-1',
    '.5',
    '1e3',
    'y',
  ),
  fc.constantFrom(
    '"a b"',
    "'a # b'",
    '""',
    '"a\\nb"',
    "'it''s'",
    '[]',
    '{}',
    '[a, b]',
    '{a: b}',
    '*x',
    '&x a',
    '!!str 1',
  ),
  fc.constantFrom(
    'a: b',
    'a:',
    'a #b',
    'a#b',
    '# a',
    '- a',
    '-',
    '|',
    '>',
    '@a',
    '`a',
    '%a',
    '? a',
    'a b c',
    '$(x)',
    '"a" b',
  ),
  fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
)
const blockLine = fc.oneof(
  fc.constantFrom('', ' ', '  set in', '# no comment', '- x', 'a: b', '   '),
  fc.constantFrom('text', 'more'),
)

interface Block {
  readonly mark: string
  readonly lines: readonly string[]
}

type Tree = string | Block | readonly Tree[] | { readonly [key: string]: Tree }

const { tree } = fc.letrec<{ tree: Tree; mapping: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.record({
      mark: fc.constantFrom('|', '|-', '>', '>-', '|+', '|2'),
      lines: fc.array(blockLine, { minLength: 1, maxLength: 4 }),
    }),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
    tie('mapping'),
  ),
  mapping: fc.dictionary(key, tie('tree'), { minKeys: 1, maxKeys: 4 }),
}))

function isBlock(value: Tree): value is Block {
  return typeof value === 'object' && 'mark' in value && Array.isArray((value as Block).lines)
}

/** As people write it: lists at the indent of their key or two deeper. */
function render(value: Tree, indent: number): string {
  const pad = ' '.repeat(indent)
  if (typeof value === 'string') return ` ${value}\n`
  if (isBlock(value)) return ` ${value.mark}\n${value.lines.map((line) => `${pad}  ${line}\n`).join('')}`
  if (Array.isArray(value)) {
    return `\n${value.map((item: Tree) => `${pad}-${inItem(item, indent)}`).join('')}`
  }
  const entries = Object.entries(value).map(([name, item]) => {
    const isDeeper = !Array.isArray(item) || name.length % 2 === 0
    return `${pad}${name}:${render(item, indent + (isDeeper ? 2 : 0))}`
  })
  return `\n${entries.join('')}`
}

function inItem(item: Tree, indent: number): string {
  const text = render(item, indent + 2)
  return text.startsWith('\n') ? ` ${text.slice(1).trimStart()}` : text
}

/** What the simple parser reads, the whole one reads the same; what that refuses, the simple one does not take. */
function assertSame(text: string): boolean {
  const simple = readSimpleYaml(text)
  if (simple !== undefined) assert.deepEqual(simple, readAnyYaml(text), JSON.stringify(text))
  return simple !== undefined
}

test('what the simple parser reads, the whole parser reads the same', () => {
  const read = { simple: 0, all: 0 }
  fc.assert(
    fc.property(tree, fc.boolean(), fc.boolean(), (value, hasComment, hasBreak) => {
      const text = `${hasComment ? '# head\n\n' : ''}ref:${render(value, 2)}`
      read.all += 1
      read.simple += assertSame(hasBreak ? text : text.trimEnd()) ? 1 : 0
    }),
    { numRuns: 2000 },
  )
  assert.ok(read.simple > read.all / 10, `${read.simple} of ${read.all} texts are simple`)
})

test('a text that was damaged anywhere is read the same by both, or only by the whole parser', () => {
  const sound =
    'ref:\n  as: a-b\n  env:\n  - name: X\n    default: "1" # one\n  documentation: |-\n    text\n\n      more\n  cli: latest\n'
  const piece = fc.oneof(
    fc.constantFrom('\n', ' ', '  ', ':', '- ', '#', '"', "'", '|', '\t', '---\n', 'as: x\n', '    '),
    fc.string({ maxLength: 3 }),
  )
  const damage = fc.tuple(fc.nat(sound.length), fc.nat(6), piece)
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), (damages) => {
      let text = sound
      for (const [at, length, put] of damages) text = text.slice(0, at) + put + text.slice(at + length)
      assertSame(text)
    }),
    { numRuns: 4000 },
  )
})

test('the subset that registry files are written in is read', () => {
  const text = `# comment
chain:
  as: a-b
  steps:
  - ref: one
  - as: two
    commands: |
      set -e

      echo "x: y" # kept
  env:
    - name: EMPTY
      default: ''
    - name: NOTHING
      default:
    - name: NUMBER
      default: 4.10
  documentation: >-
    one
    line

    two
`
  assert.deepEqual(readSimpleYaml(text)?.value, {
    chain: {
      as: 'a-b',
      steps: [{ ref: 'one' }, { as: 'two', commands: 'set -e\n\necho "x: y" # kept\n' }],
      env: [
        { name: 'EMPTY', default: '' },
        { name: 'NOTHING', default: null },
        { name: 'NUMBER', default: 4.1 },
      ],
      documentation: 'one line\ntwo',
    },
  })
})
