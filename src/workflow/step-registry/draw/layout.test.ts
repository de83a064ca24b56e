import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DrawnStep, leavesOf, phaseBox } from './drawing.ts'
import { type Area, arrowsAmong, isBox, type Placed, placed, sizes } from './layout.ts'
import { textWidth } from './text-lines.ts'

interface Nest {
  readonly name: string
  readonly children: readonly (Nest | string)[]
}

const name = fc.stringMatching(/^[a-z](?:[a-z0-9-]{0,80}[a-z0-9])?$/)

const { nest } = fc.letrec<{ nest: Nest; child: Nest | string }>((tie) => ({
  child: fc.oneof({ maxDepth: 5, depthSize: 'large' }, name, tie('nest')),
  nest: fc.record({ name, children: fc.array(tie('child'), { minLength: 1, maxLength: 5 }) }),
}))

/** The steps of a nest, each with the boxes around it; equal neighbours are told apart as a caller would. */
function stepsOf(children: readonly (Nest | string)[], groups: readonly string[] = []): DrawnStep[] {
  return children.flatMap((child, index) =>
    typeof child === 'string'
      ? [{ id: `${groups.join('/')}/${index}`, label: child, groups }]
      : stepsOf(child.children, [...groups, `${child.name}#${index + 1}`]),
  )
}

function shapeOf(children: readonly (Nest | string)[]): unknown {
  return children.map((child) => (typeof child === 'string' ? child : { [child.name]: shapeOf(child.children) }))
}

function placedShape(children: readonly Placed[]): unknown {
  return children.map((child) =>
    isBox(child) ? { [child.node.label]: placedShape(child.children) } : child.node.step?.label,
  )
}

const phaseOf = (root: Nest) => phaseBox({ name: 'Pre', steps: stepsOf(root.children) })
const bottom = ({ y, height }: Area) => y + height
const right = ({ x, width }: Area) => x + width

function everyBox(one: Placed): Placed[] {
  return [one, ...(isBox(one) ? one.children.flatMap(everyBox) : [])]
}

test('the boxes that are drawn are the boxes that were given, with every step in its place exactly once', () => {
  fc.assert(
    fc.property(nest, (root) => {
      const drawn = placed(phaseOf(root), { x: 0, y: 0 })
      assert.ok(isBox(drawn))
      assert.deepEqual(placedShape(drawn.children), shapeOf(root.children))
    }),
  )
})

test('what is in a box stays in it, and neighbours do not overlap', () => {
  fc.assert(
    fc.property(nest, fc.nat(2000), (root, minWidth) => {
      for (const box of everyBox(placed(phaseOf(root), { x: 7, y: 11 }, minWidth)).filter(isBox)) {
        for (const [index, child] of box.children.entries()) {
          assert.ok(child.x > box.x && right(child) < right(box), 'left and right')
          assert.ok(child.y > box.y && bottom(child) < bottom(box), 'above and below')
          const next = box.children[index + 1]
          if (next !== undefined) assert.ok(bottom(child) < next.y, 'neighbours')
        }
      }
    }),
  )
})

test('no text is wider than the place that it has in its box', () => {
  fc.assert(
    fc.property(nest, fc.string({ maxLength: 200 }), (root, note) => {
      const steps = stepsOf(root.children).map((step) => ({ ...step, note }))
      for (const one of everyBox(placed(phaseBox({ name: 'Pre', steps }), { x: 0, y: 0 }))) {
        const room = isBox(one) ? one.width - 2 * sizes.padding : one.width - sizes.mark
        const size = isBox(one) ? sizes.group : sizes.step
        for (const line of one.lines) assert.ok(textWidth(line, size) <= room, line)
        for (const line of isBox(one) ? [] : one.noteLines) assert.ok(textWidth(line, sizes.note) <= room, line)
      }
    }),
  )
})

test('the arrows join each step with the one that follows it, and cross nothing', () => {
  fc.assert(
    fc.property(nest, (root) => {
      const phase = phaseOf(root)
      const drawn = placed(phase, { x: 0, y: 0 })
      const leaves = leavesOf(phase)
      const arrows = arrowsAmong([drawn])
      const joined = arrows.map(({ from, to }) => [leaves.indexOf(from), leaves.indexOf(to)] as const)
      assert.deepEqual(
        joined.toSorted(([a], [b]) => a - b),
        leaves.slice(1).map((_, index) => [index, index + 1]),
      )
      for (const { x, top, bottom: end } of arrows) {
        assert.ok(top < end)
        const crossed = everyBox(drawn).filter(
          (one) =>
            x >= one.x && x <= right(one) && one.y < end && bottom(one) > top && !(one.y < top && bottom(one) > end),
        )
        assert.deepEqual(crossed, [])
      }
    }),
  )
})

test('two boxes of one name in a row stay two, and their number is not shown', () => {
  const step = (id: string, groups: string[]) => ({ id, label: id, groups })
  const phase = phaseBox({ name: 'Pre', steps: [step('a', ['x']), step('b', ['x']), step('c', ['x#2'])] })
  assert.deepEqual(
    phase.children.map((child) => child.kind === 'box' && [child.label, leavesOf(child).length]),
    [
      ['x', 2],
      ['x', 1],
    ],
  )
})
