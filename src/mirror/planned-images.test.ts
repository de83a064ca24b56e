import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyImageSpecs, planOf, resolvedImages } from '../../testkit/plans.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { parseMirrorTarget } from './destination.ts'
import { planMirror } from './plan.ts'
import { parsePlan, planLines } from './plan-file.ts'
import { checkPlanFits, resolvedImagesOf, selectedImagesOf } from './planned-images.ts'

test('the images of a plan, planned again, are the same plan', () => {
  fc.assert(
    fc.property(anyImageSpecs, (specs) => {
      const plan = planOf(specs)
      const present = new Set(plan.images.filter(({ isPresent }) => isPresent).map(({ destination }) => destination))
      const images = resolvedImagesOf(plan)
      const again = planMirror(plan.target, images, ({ selected }) =>
        present.has(formatReference(selected.destination)),
      )
      assert.deepEqual(again, plan)
    }),
  )
})

test('a signature comes right after the image that it belongs to', () => {
  const specs = ['zebra', 'ape', 'cow'].map((name) => ({ name, layers: ['base', name], isSigned: true }))
  const images = resolvedImagesOf(planOf(specs))
  const order = images.map(({ selected, attachedTo }) => [selected.destination.repository, attachedTo !== undefined])
  assert.deepEqual(order, [
    ['ocp/ape', false],
    ['ocp/ape', true],
    ['ocp/cow', false],
    ['ocp/cow', true],
    ['ocp/zebra', false],
    ['ocp/zebra', true],
  ])
})

test('signatures in one repository each go to the image that they sign', () => {
  const images = ['one', 'two'].flatMap((layer) =>
    resolvedImages({ name: 'app', layers: [layer], isSigned: true }, 'mirror.lab/ocp').map((image) => {
      const { tag = '', ...place } = image.selected.destination
      return { ...image, selected: { ...image.selected, destination: { ...place, tag: tag.replace('v1', layer) } } }
    }),
  )
  const again = resolvedImagesOf(planMirror('mirror.lab/ocp', images, () => false))
  assert.deepEqual(
    again.map(({ digest }) => digest),
    images.map(({ digest }) => digest),
  )
})

test('that an image is a catalog, and its further names, are in the file of a plan and come back', () => {
  const marks = { isCatalog: true, alsoNamed: [parseReference('quay.io/other/app:v1')] }
  const images = resolvedImages({ name: 'app', layers: ['a'] }, 'mirror.lab/ocp').map((image) => {
    return { ...image, selected: { ...image.selected, ...marks } }
  })
  const file = [...planLines(planMirror('mirror.lab/ocp', images, () => false))].join('')
  const [selected] = selectedImagesOf(parsePlan(file, 'plan.json'), parseMirrorTarget('docker://mirror.lab/ocp'))
  assert.deepEqual({ isCatalog: selected?.isCatalog, alsoNamed: selected?.alsoNamed }, marks)
  const broken = file.replace('quay.io/other/app:v1', 'No Name')
  assert.throws(() => parsePlan(broken, 'plan.json'), { code: 'PLAN_INVALID', message: /No Name/ })
})

test('a plan for another target is refused, and both are named', () => {
  const plan = planOf([])
  checkPlanFits(plan, parseMirrorTarget('docker://mirror.lab/ocp'))
  assert.throws(() => checkPlanFits(plan, parseMirrorTarget('docker://mirror.lab/other')), {
    code: 'USAGE',
    message: 'The plan is for mirror.lab/ocp, not for mirror.lab/other',
  })
})
