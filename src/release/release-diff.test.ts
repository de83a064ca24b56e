import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Descriptor } from '../oci/descriptor.ts'
import { digestOf } from '../oci/digest.ts'
import { type ContentsComponent, type ReleaseContents, sizesOf, storedImage } from './release-contents.ts'
import { diffReleases } from './release-diff.ts'

const place = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev'

function blob(name: string): Descriptor {
  return { mediaType: 'application/octet-stream', digest: digestOf(name), size: name.length + 100 }
}

/** An image that is nothing but its blobs. */
function component(name: string, blobs: readonly string[], commit = 'aaa'): ContentsComponent {
  const digest = digestOf(blobs.join('+'))
  return {
    name,
    reference: { registry: 'quay.io', repository: 'openshift-release-dev/ocp-v4.0-art-dev', digest },
    source: { repository: `https://github.com/openshift/${name}`, commit },
    image: storedImage({ digest, place, blobs: blobs.map(blob), layers: blobs.length }),
  }
}

function release(
  version: string,
  components: readonly ContentsComponent[],
  previous: readonly string[] = [],
): ReleaseContents {
  const digest = digestOf(version)
  return {
    ...{ reference: { registry: 'quay.io', repository: 'ocp-release', tag: version }, digest, version, components },
    ...{ isIndex: false, architectures: ['amd64'], metadata: { previous, next: [], more: {} } },
    versions: [{ name: 'kubernetes', version: `1.${version}` }],
    image: storedImage({ digest, place, blobs: [blob('base'), blob(version)], layers: 1 }),
  }
}

const one = release('4.18.9', [component('cli', ['base', 'cli']), component('dns', ['dns'])], ['4.18.8'])

test('what is new is counted once, however many components have it', () => {
  const other = release(
    '4.18.10',
    [component('cli', ['base', 'fix', 'cli2']), component('etcd', ['base', 'fix'])],
    ['4.18.9'],
  )
  const { added, removed, changed, unchanged, newBlobs, newBytes, imageNewBytes } = diffReleases(one, other)
  assert.deepEqual([added.map(({ name }) => name), removed.map(({ name }) => name), unchanged], [['etcd'], ['dns'], 0])
  const sizes = [blob('fix').size, blob('cli2').size, blob('4.18.10').size]
  assert.deepEqual([newBlobs, newBytes], [3, sizes.reduce((sum, size) => sum + size, 0)])
  assert.equal(imageNewBytes, blob('4.18.10').size)
  assert.equal(changed[0]?.newBytes, blob('fix').size + blob('cli2').size)
  assert.equal(added[0]?.newBytes, blob('fix').size)
})

test('the edge is the one of the payloads; without any it is not known', () => {
  const edge = (from: ReleaseContents, to: ReleaseContents) => {
    const { isEdge, isReverseEdge } = diffReleases(from, to)
    return [isEdge, isReverseEdge]
  }
  const newer = release('4.18.10', [], ['4.18.9'])
  assert.deepEqual(edge(one, newer), [true, false])
  assert.deepEqual(edge(newer, one), [false, true])
  assert.deepEqual(edge(one, release('4.19.0', [], ['4.18.10'])), [false, false])
  assert.deepEqual(edge(one, release('4.19.0', [])), [undefined, false])
  const forward = { ...one, metadata: { previous: [], next: ['4.19.0'], more: {} } }
  assert.deepEqual(edge(forward, release('4.19.0', [])), [true, false])
})

test('commits are compared only within one repository, and a rebuild is told by the same commit', () => {
  const sourceOf = (former: ContentsComponent, now: ContentsComponent) =>
    diffReleases(release('1.0.0', [former]), release('1.0.1', [now])).changed[0]?.source
  const repository = 'https://github.com/openshift/cli'
  const before = component('cli', ['one'], 'abc')
  assert.deepEqual(sourceOf(before, component('cli', ['two'], 'def')), {
    repository,
    fromCommit: 'abc',
    toCommit: 'def',
  })
  assert.deepEqual(sourceOf(before, component('cli', ['two'], 'abc')), {
    repository,
    fromCommit: 'abc',
    toCommit: 'abc',
  })
  const moved = { ...before, source: { repository: 'https://example.com/cli', commit: 'abc' } }
  assert.deepEqual(sourceOf(moved, component('cli', ['two'], 'def')), { repository, toCommit: 'def' })
})

test('a component without an image makes the cost a least one', () => {
  const { image: _, ...absent } = component('etcd', ['etcd'])
  const other = release('4.18.10', [
    ...one.components,
    { ...absent, problem: { code: 'X', message: 'gone', hint: '' } },
  ])
  assert.deepEqual(diffReleases(one, other).unknown, ['etcd'])
})

const releases = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom('a', 'b', 'c', 'd'),
      fc.uniqueArray(fc.constantFrom('p', 'q', 'r', 's'), { minLength: 1 }),
    ),
    {
      selector: ([name]) => name,
    },
  )
  .map((parts) => parts.map(([name, blobs]) => component(name, blobs)))

test('what an upgrade costs is what the other release weighs, less what both have', () => {
  fc.assert(
    fc.property(releases, releases, (before, after) => {
      const [from, to] = [release('1.0.0', before), release('1.0.0', after)]
      const all = (of: ReleaseContents) =>
        new Map(
          [of.image, ...of.components.flatMap(({ image }) => image ?? [])].flatMap(({ blobs }) =>
            blobs.map((b) => [b.digest, b.size]),
          ),
        )
      const held = all(from)
      const expected = [...all(to)].filter(([digest]) => !held.has(digest)).reduce((sum, [, size]) => sum + size, 0)
      assert.equal(diffReleases(from, to).newBytes, expected)
      assert.equal(
        sizesOf(to).uniqueBytes,
        [...all(to).values()].reduce((sum, size) => sum + size, 0),
      )
    }),
  )
})

test('a component owns what no other image has; two that are one image own it both', () => {
  const { own, sharedBytes } = sizesOf(
    release('1.0.0', [component('a', ['base', 'x']), component('b', ['y']), component('c', ['y'])]),
  )
  assert.deepEqual(
    [...own],
    [
      ['a', blob('x').size],
      ['b', blob('y').size],
      ['c', blob('y').size],
    ],
  )
  assert.equal(sharedBytes, blob('base').size)
})
