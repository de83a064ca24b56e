import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { emptyWorkflow, type LiteralStep, type ResolvedStep, type ResolvedWorkflow } from '../model.ts'
import { drawWorkflow, workflowDrawing } from './draw-workflow.ts'
import type { DrawnState } from './drawing.ts'
import { drawSteps } from './svg.ts'

const step = (as: string, chainPath: readonly string[] = [], more: Partial<LiteralStep> = {}): ResolvedStep => ({
  literal: { as, commands: 'true', ...more },
  phase: 'pre',
  chainPath,
  parameters: [],
})

const workflow = (pre: readonly ResolvedStep[], more: Partial<ResolvedWorkflow> = {}): ResolvedWorkflow => ({
  ...emptyWorkflow('w'),
  pre,
  ...more,
})

/** Every tag is closed in its turn, and nothing stands bare that has to be escaped. */
function assertXml(text: string): void {
  const open: string[] = []
  assert.doesNotMatch(text, /(?![\t\n\r\u007f-\u009f])\p{Cc}|[\ufffe\uffff]/u)
  const rest = text.replace(
    /<(\/?)([a-z]+)((?: [a-zA-Z:-]+="[^"<>]*")*)(\/?)>/g,
    (_, end, tag: string, _all, empty) => {
      if (end === '/') assert.equal(open.pop(), tag)
      else if (empty !== '/') open.push(tag)
      return ''
    },
  )
  assert.deepEqual(open, [])
  assert.doesNotMatch(rest.replace(/^[^{}]*>/, ''), /<|&(?!(?:amp|lt|gt|quot);)/)
}

test('whatever stands in names, notes and documentation, the picture is XML', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 200 })
  fc.assert(
    fc.property(texts, texts, texts, texts, (title, label, note, tooltip) => {
      const one = { id: label, label, note, tooltip, groups: [title], state: 'failed' as const }
      assertXml(drawSteps({ title, phases: [{ name: note, steps: [one] }] }))
    }),
  )
})

test('each step is drawn once, by its id, and an empty phase says that it is empty', () => {
  const svg = drawWorkflow(workflow([step('one', ['a', 'b']), step('two', ['a']), step('three')]))
  assert.deepEqual(
    [...svg.matchAll(/data-step="([^"]*)"/g)].map(([, id]) => id),
    ['pre/one', 'pre/two', 'pre/three'],
  )
  assert.equal(svg.match(/Intentionally left blank/g)?.length, 2)
  assertXml(svg)
})

test('a chain that runs twice in a row is two boxes', () => {
  const steps = [step('one', ['a', 'b']), step('two', ['a', 'b']), step('one', ['a', 'b']), step('two', ['a', 'b'])]
  const { phases } = workflowDrawing(workflow(steps))
  assert.deepEqual(
    phases[0]?.steps.map(({ id, groups }) => [id, groups.join('/')]),
    [
      ['pre/one', 'a/b'],
      ['pre/two', 'a/b'],
      ['pre/one#2', 'a/b#2'],
      ['pre/two#2', 'a/b#2'],
    ],
  )
})

test('a tooltip has the documentation, the values with their origins, and no password', () => {
  const parameters = [
    { name: 'ZONES', value: '2', from: 'workflow', by: 'w' },
    { name: 'URL', value: 'https://me:hunter2@proxy.lab', from: 'step', by: 'one' },
    { name: 'NEEDED', value: undefined, from: 'step', by: 'one' },
  ] as const
  const one = { ...step('one', [], { timeout: '2h', best_effort: true }), parameters }
  const svg = drawWorkflow(workflow([one]), { documentation: new Map([['one', 'Makes <zones>.']]) })
  assert.match(svg, /Makes &lt;zones&gt;\./)
  assert.match(svg, /timeout 2h, best effort/)
  assert.match(svg, /ZONES=&quot;2&quot; \(workflow w\)/)
  assert.match(svg, /NEEDED has no value yet/)
  assert.doesNotMatch(svg, /hunter2/)
})

test('observers stand beside what they watch', () => {
  const watch: LiteralStep = { as: 'watch', commands: 'true' }
  const svg = drawWorkflow(workflow([step('one')], { observers: [watch] }))
  assert.match(svg, /class="phase p3 beside"/)
  assert.match(svg, /data-step="observer\/watch"/)
})

test('a state is a word in the tooltip and a mark of its own, not a colour alone', () => {
  const states: readonly DrawnState[] = ['pending', 'running', 'succeeded', 'failed', 'skipped']
  const marks = states.map((state) => {
    const svg = drawSteps({ title: 't', phases: [{ name: 'p', steps: [{ id: 's', label: 's', groups: [], state }] }] })
    assert.match(svg, new RegExp(`<title>s\n${state}</title>`))
    return /<g class="mark"[^>]*>(.*?)<\/g>/.exec(svg)?.[1]
  })
  assert.equal(new Set(marks).size, states.length)
})
