import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Digest, digestOf, hexOf } from '../oci/digest.ts'
import {
  planDeletion,
  type RepositoryState,
  type StoredManifest,
  subjectOfTag,
  type Unwanted,
} from './plan-deletion.ts'

const d = (name: string): Digest => digestOf(name)
const sig = (subject: Digest) => `sha256-${hexOf(subject)}.sig`
const nobody = () => undefined
const blob = { mediaType: 'application/octet-stream', digest: d('blob'), size: 1 }

interface Shape {
  readonly tags: Readonly<Record<string, Digest>>
  readonly children?: Readonly<Record<Digest, readonly Digest[]>>
  readonly referrers?: Readonly<Record<Digest, readonly Digest[]>>
}

function repository({ tags, children = {}, referrers = {} }: Shape): RepositoryState {
  const subjects = new Map(Object.entries(referrers).flatMap(([subject, all]) => all.map((one) => [one, subject])))
  const all = new Set([...Object.values(tags), ...Object.values(children).flat(), ...Object.values(referrers).flat()])
  const manifests = [...all].map((digest): [Digest, StoredManifest] => {
    const own = children[digest] ?? []
    const subject = subjects.get(digest) as Digest | undefined
    return [digest, { size: 100, children: own, blobs: own.length > 0 ? [] : [blob], ...(subject && { subject }) }]
  })
  return {
    tags: new Map(Object.entries(tags)),
    manifests: new Map(manifests),
    referrers: new Map(Object.entries(referrers) as [Digest, readonly Digest[]][]),
  }
}

function plan(
  state: RepositoryState,
  tags: readonly string[],
  rules: Partial<Parameters<typeof planDeletion>[2]> = {},
) {
  const items = tags.map((tag): Unwanted => ({ name: { tag } }))
  const all = { usedBy: nobody, tagUsedBy: nobody, withAttachments: false, ...rules }
  const { fates, ...rest } = planDeletion(state, items, all)
  return { ...rest, fates: fates.map(({ fate }) => fate), whys: fates.map((one) => ('why' in one ? one.why : '')) }
}

test('an image goes with the children of its index, the index first', () => {
  const state = repository({ tags: { a: d('index') }, children: { [d('index')]: [d('amd64'), d('s390x')] } })
  const { fates, manifests } = plan(state, ['a'])
  assert.deepEqual([fates, manifests], [['deleted'], [d('index'), d('amd64'), d('s390x')]])
})

test('where another tag names the manifest, only the tag goes', () => {
  const { fates, manifests, whys } = plan(repository({ tags: { a: d('x'), b: d('x') } }), ['a'])
  assert.deepEqual([fates, manifests, whys], [['untagged'], [], ['the tag b stands for it too']])
  assert.deepEqual(plan(repository({ tags: { a: d('x'), b: d('x') } }), ['a', 'b']).manifests, [d('x')])
})

test('a child that an index which stays holds is not deleted, by whatever name', () => {
  const state = repository({
    tags: { old: d('old'), new: d('new'), child: d('both') },
    children: { [d('old')]: [d('both'), d('one')], [d('new')]: [d('both')] },
  })
  const { fates, manifests } = plan(state, ['old', 'child'])
  assert.deepEqual(
    [fates, manifests],
    [
      ['deleted', 'untagged'],
      [d('old'), d('one')],
    ],
  )
})

test('an image in use stays whole with its tag, also where only the image of one platform is known to be used', () => {
  const state = repository({ tags: { a: d('index'), b: d('x') }, children: { [d('index')]: [d('amd64'), d('arm')] } })
  const usedBy = (digest: Digest) => (digest === d('arm') ? 'Node worker' : undefined)
  const { fates, manifests, whys } = plan(state, ['a', 'b'], { usedBy })
  assert.deepEqual([fates, manifests], [['kept', 'deleted'], [d('x')]])
  assert.match(whys[0] ?? '', /^Node worker \(it holds sha256:/)
  const tagUsedBy = (tag: string) => (tag === 'a' ? 'isc.yaml' : undefined)
  assert.deepEqual(plan(state, ['a'], { tagUsedBy }).fates, ['kept'])
})

test('what is in use and has another name loses only the one that is not wanted', () => {
  const state = repository({ tags: { '4.18.9-cli': d('cli'), '4.18.10-cli': d('cli') } })
  const usedBy = (digest: Digest) => (digest === d('cli') ? 'the release that runs' : undefined)
  const { fates, manifests } = plan(state, ['4.18.9-cli'], { usedBy })
  assert.deepEqual([fates, manifests], [['untagged'], []])
  assert.deepEqual(plan(state, ['4.18.9-cli', '4.18.10-cli'], { usedBy }).fates, ['kept', 'kept'])
})

test('a tag that was moved to another image since is left alone', () => {
  const state = repository({ tags: { a: d('new') } })
  const [fate] = planDeletion(state, [{ name: { tag: 'a' }, expected: d('old') }], {
    usedBy: nobody,
    tagUsedBy: nobody,
    withAttachments: true,
  }).fates
  assert.equal(fate?.fate, 'kept')
})

test('signatures and other artifacts go with their image when asked, and never without it', () => {
  const tags = { a: d('x'), b: d('y'), [sig(d('x'))]: d('sigx'), [sig(d('y'))]: d('sigy') }
  const state = repository({ tags, referrers: { [d('x')]: [d('sbom')], [d('sbom')]: [d('signed sbom')] } })
  assert.deepEqual(plan(state, ['a']).manifests, [d('x')])
  const { manifests, attachedTags } = plan(state, ['a'], { withAttachments: true })
  assert.equal(manifests[0], d('x'))
  assert.deepEqual(new Set(manifests), new Set([d('x'), d('sigx'), d('sbom'), d('signed sbom')]))
  assert.ok(manifests.indexOf(d('sbom')) < manifests.indexOf(d('signed sbom')))
  assert.deepEqual(attachedTags, [sig(d('x'))])
  const alone = plan(state, [sig(d('x'))])
  assert.deepEqual([alone.fates, alone.manifests], [['kept'], []])
  assert.deepEqual(plan(state, ['a', sig(d('x'))]).fates, ['deleted', 'deleted'])
  assert.deepEqual(
    plan(state, [sig(d('x')), 'a']).manifests,
    [d('x'), d('sigx')],
    'the image first, whatever the list says',
  )
})

test('the tag of an image that was named by digest is not mistaken for a list of its referrers', () => {
  const digest = d('image')
  const image = { size: 1, children: [], blobs: [blob] }
  assert.equal(subjectOfTag(`sha256-${hexOf(digest)}`, digest, image), undefined)
  assert.equal(subjectOfTag(`sha256-${hexOf(digest)}`, d('list'), { ...image, blobs: [] }), digest)
  assert.equal(subjectOfTag('4.18.9-x86_64', digest, image), undefined)
})

/** Random repositories: images, indexes over them, indexes over indexes, tags, signatures, referrers. */
const repositories = fc
  .record({
    images: fc.integer({ min: 1, max: 6 }),
    indexes: fc.array(fc.array(fc.nat(11), { maxLength: 4 }), { maxLength: 5 }),
    tags: fc.array(fc.nat(11), { minLength: 1, maxLength: 8 }),
    signed: fc.array(fc.nat(11), { maxLength: 4 }),
    referring: fc.array(fc.nat(13), { maxLength: 4 }),
  })
  .map(({ images, indexes, tags, signed, referring }) => {
    const names = Array.from({ length: images }, (_, n) => d(`image ${n}`))
    const children: Record<Digest, Digest[]> = {}
    for (const [n, parts] of indexes.entries()) {
      const index = d(`index ${n}`)
      children[index] = parts.flatMap((part) => names[part % names.length] ?? [])
      if (parts.length > 0) names.push(index)
    }
    const pick = (n: number) => names[n % names.length] ?? d('image 0')
    const named: Record<string, Digest> = Object.fromEntries(tags.map((n, index) => [`t${index}`, pick(n)]))
    for (const n of signed) named[sig(pick(n))] = d(`signature ${pick(n)}`)
    const referrers: Record<Digest, Digest[]> = {}
    for (const n of referring) referrers[pick(n)] = [d(`referrer ${pick(n)}`)]
    return repository({ tags: named, children, referrers })
  })

function closure(state: RepositoryState, root: Digest): Digest[] {
  return [root, ...(state.manifests.get(root)?.children ?? []).flatMap((child) => closure(state, child))]
}

test('whatever is deleted, nothing that stays is ever broken, and nothing that was to go and could is left', () => {
  const choice = fc.record({ state: repositories, seed: fc.array(fc.boolean(), { minLength: 14, maxLength: 14 }) })
  const property = fc.property(choice, fc.boolean(), fc.nat(40), ({ state, seed }, withAttachments, used) => {
    const unwanted = [...state.tags.keys()].filter((_, index) => seed[index] === true)
    const inUse = [...state.manifests.keys()][used]
    const items = unwanted.map((tag): Unwanted => ({ name: { tag } }))
    const usedBy = (digest: Digest) => (digest === inUse ? 'somebody' : undefined)
    const planned = planDeletion(state, items, { usedBy, tagUsedBy: nobody, withAttachments })
    const gone = new Set(planned.manifests)
    const untagged = new Set(planned.fates.flatMap(({ fate, item }) => (fate === 'untagged' ? [item.name] : [])))
    const left = [...state.tags].filter(([, digest]) => !gone.has(digest))
    for (const [tag, root] of left)
      for (const digest of closure(state, root)) assert.ok(!gone.has(digest), `${tag} lost ${digest}`)
    for (const [tag] of state.tags) {
      const isAttachment = tag.endsWith('.sig')
      if (!unwanted.includes(tag) && !isAttachment)
        assert.ok(
          left.some(([name]) => name === tag),
          `${tag} is gone`,
        )
    }
    if (inUse) for (const digest of closure(state, inUse)) assert.ok(!gone.has(digest), 'what is in use lost a part')
    const staying = new Set(left.filter(([tag]) => !unwanted.includes(tag)).map(([, digest]) => digest))
    for (const [tag, digest] of state.tags) {
      const subject = subjectOfTag(tag, digest, state.manifests.get(digest))
      if (subject && staying.has(subject)) assert.ok(!gone.has(digest), `${subject} lost its signature`)
    }
    for (const [index, digest] of planned.manifests.entries())
      for (const child of state.manifests.get(digest)?.children ?? [])
        if (gone.has(child)) assert.ok(planned.manifests.indexOf(child) > index, 'a child goes before its index')
    for (const [digest, before] of planned.after)
      for (const one of before) assert.ok(planned.manifests.indexOf(one) < planned.manifests.indexOf(digest), 'order')
    for (const fate of planned.fates) if (fate.fate === 'deleted') assert.ok(gone.has(fate.digest))
    const reasons = planned.fates.filter(({ fate }) => fate === 'untagged' || fate === 'kept')
    for (const fate of reasons) assert.ok('why' in fate && fate.why !== '')
    assert.equal(planned.fates.length, items.length)
    assert.ok([...untagged].length <= items.length)
  })
  fc.assert(property, { numRuns: 500 })
})
