import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyImageSpecs, planOf, resolvedImages } from '../../testkit/plans.ts'
import type { KnownError } from '../errors/known-error.ts'
import { digestOf } from '../oci/digest.ts'
import { type MirrorPlan, planMirror } from './plan.ts'
import { parsePlan, planLines } from './plan-file.ts'

function textOf(plan: object): string {
  return [...planLines(plan as MirrorPlan)].join('')
}

function refusal(text: string): string {
  try {
    parsePlan(text, 'plan.json')
  } catch (error) {
    const { code, message } = error as KnownError
    assert.equal(code, 'PLAN_INVALID')
    assert.match(message, /^plan\.json: not a plan: /)
    return message
  }
  return 'accepted'
}

test('every plan reads back as the same plan, and has a line for each thing in it', () => {
  fc.assert(
    fc.property(anyImageSpecs, (specs) => {
      const plan = planOf(specs)
      const text = textOf(plan)
      assert.deepEqual(parsePlan(text, 'plan.json'), plan)
      assert.equal(textOf(parsePlan(text, 'plan.json')), text)
      const lines = text.split('\n').filter((line) => line.startsWith('{"') && !line.includes('version'))
      assert.equal(lines.length, plan.images.length + plan.blobs.length + plan.manifests.length)
    }),
  )
})

const sample = planOf([
  { name: 'one', layers: ['base', 'own'], architectures: ['amd64', 'arm64'], isSigned: true },
  { name: 'two', layers: ['base', 'other'] },
  { name: 'there', layers: ['base'], isPresent: true },
])

/** `sample` with one entry changed. */
function changed<Part extends 'images' | 'blobs' | 'manifests'>(
  part: Part,
  at: number,
  change: Partial<MirrorPlan[Part][number]>,
): string {
  return textOf({
    ...sample,
    [part]: sample[part].map((entry, index) => (index === at ? { ...entry, ...change } : entry)),
  })
}

const lastManifest = sample.manifests.length - 1

const broken: Readonly<Record<string, readonly [text: string, expected: RegExp]>> = {
  'no JSON': ['{"version":1,', /it is no JSON: .*line 1|it is no JSON: .*(?:position|end)/],
  'another version': [textOf({ ...sample, version: 2 }), /version: is not a version that this sallyport reads/],
  'a field that nobody knows': [changed('blobs', 0, { colour: 'red' } as object), /blobs\[0\]: .*colour/],
  'a digest that is none': [changed('blobs', 1, { digest: 'sha256:12' }), /blobs\[1\]\.digest: is not a sha256/],
  'a size below zero': [changed('manifests', 0, { size: -1 }), /manifests\[0\]\.size/],
  'a blob without a repository': [changed('blobs', 0, { repositories: [] as never }), /blobs\[0\]\.repositories/],
  'a destination that is no reference': [changed('images', 0, { destination: 'mirror.lab/ocp/UP:1' }), /UP/],
  'a blob that goes elsewhere': [
    changed('blobs', 0, { repositories: ['evil.example/ocp/one'] }),
    /blobs\[0\]: evil\.example\/ocp\/one is not below the target mirror\.lab\/ocp/,
  ],
  'a manifest that goes beside the target': [
    changed('manifests', lastManifest, { destination: 'mirror.lab/ocp2/two:v1' }),
    /manifests\[\d+\]: mirror\.lab\/ocp2\/two:v1 is not below/,
  ],
  'a blob that is missing': [
    textOf({ ...sample, blobs: sample.blobs.slice(1), totals: { ...sample.totals, blobs: sample.blobs.length - 1 } }),
    /it needs sha256:\w+, which is not in the plan/,
  ],
  'a blob that another repository has': [
    changed(
      'blobs',
      sample.blobs.findIndex(({ repositories }) => repositories.length > 1),
      { repositories: ['mirror.lab/ocp/one'] },
    ),
    /it needs sha256:\w+, which is not in the plan/,
  ],
  'a blob that nothing needs': [
    textOf({ ...sample, blobs: [...sample.blobs, { ...sample.blobs[0], digest: digestOf('idle') }] }),
    /nothing in mirror\.lab\/ocp\/\w+ needs sha256:/,
  ],
  'a blob twice': [textOf({ ...sample, blobs: [...sample.blobs, sample.blobs[0]] }), /is there twice/],
  'an index before its images': [
    changed(
      'manifests',
      sample.manifests.findIndex(({ needs, level }) => level === 0 && needs.length > 0),
      { level: 9 },
    ),
    /comes at level 9, not before|comes before its content/,
  ],
  'a tag before the end': [
    changed('manifests', lastManifest, { level: 0 }),
    /a tag at level 0 comes before its content/,
  ],
  'an image without its manifest': [
    changed(
      'images',
      sample.images.findIndex(({ isPresent }) => isPresent),
      { isPresent: false },
    ),
    /its manifest is not in the plan/,
  ],
  'an image with another digest': [
    changed('images', 0, { digest: digestOf('other') }),
    /images\[0\] .*: its manifest is sha256:/,
  ],
  'totals that are not those of the rest': [
    textOf({ ...sample, totals: { ...sample.totals, bytes: 1 } }),
    /totals\.bytes: says 1, and the plan has \d+/,
  ],
}

for (const [what, [text, expected]] of Object.entries(broken)) {
  test(`a plan with ${what} is refused, and the place is named`, () => {
    assert.match(refusal(text), expected)
  })
}

test('an image below an index without a tag comes before it, or the plan is refused', () => {
  const [image] = resolvedImages({ name: 'list', layers: ['a'], architectures: ['amd64'] }, 'mirror.lab/ocp')
  assert.ok(image)
  const { registry, repository } = image.selected.destination
  const destination = { registry, repository, digest: image.digest }
  const plan = planMirror('mirror.lab/ocp', [{ ...image, selected: { ...image.selected, destination } }], () => false)
  assert.equal(refusal(textOf(plan)), 'accepted')
  const [child, ...others] = plan.manifests
  const late = { ...plan, manifests: [{ ...child, level: 1 }, ...others] }
  assert.match(refusal(textOf(late)), /manifests\[1\] .*: it needs sha256:\w+, which comes at level 1, not before/)
})

test('no plan with one number or digest of it changed is taken for another plan', () => {
  const lines = textOf(sample).split('\n')
  const places = lines.flatMap((line, at) =>
    [...line.matchAll(/"(?:size|level|bytes|blobs|digest)":"?([\w:]+)/g)].map(() => at),
  )
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.nat(), (at, seed) => {
      const edited = lines.map((line, index) => (index === at ? changeOne(line, seed) : line)).join('\n')
      const result = refusal(edited)
      // A size is a claim that only the registry can contradict, unless the totals do.
      if (result === 'accepted') assert.match(lines[at] ?? '', /"size":/)
    }),
    { numRuns: 200 },
  )
})

function changeOne(line: string, seed: number): string {
  const numbers = [...line.matchAll(/"(?:size|level|bytes|blobs)":(\d+)/g)]
  const chosen = numbers[seed % Math.max(1, numbers.length)]
  if (!chosen) return line.replace(/"digest":"sha256:./, '"digest":"sha256:x')
  return `${line.slice(0, chosen.index)}${chosen[0]}7${line.slice(chosen.index + chosen[0].length)}`
}

test('the plan of an archive may need what the other side holds', () => {
  const plan = planOf([{ name: 'one', layers: ['base', 'own'] }], 'archive.invalid')
  const carried = plan.blobs.slice(1)
  const bytes = carried.reduce((sum, { size }) => sum + size, 0)
  const increment = { ...plan, blobs: carried, totals: { ...plan.totals, blobs: carried.length, bytes } }
  assert.deepEqual(parsePlan(textOf(increment), 'plan.json'), increment)
})

test('a plan of ten thousand images is read and checked in under a second and a half', () => {
  const specs = Array.from({ length: 10_000 }, (_, at) => {
    return {
      name: `team/image-${at}`,
      layers: ['base', `shared ${at % 100}`, `own ${at}`, `config ${at}`],
      isSigned: at % 4 === 0,
    }
  })
  const text = textOf(planOf(specs))
  const before = process.cpuUsage()
  assert.equal(parsePlan(text, 'plan.json').images.length, 12_500)
  const { user, system } = process.cpuUsage(before)
  assert.ok((user + system) / 1000 < 1500, `${(user + system) / 1000} ms`)
})
