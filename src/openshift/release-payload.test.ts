import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { digestOf } from '../oci/digest.ts'
import { parseReleasePayload, payloadFiles } from './release-payload.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))

function payload(references: unknown, metadata?: unknown) {
  const files = new Map<string, Uint8Array>()
  const bytes = (document: unknown) => Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
  if (references !== undefined) files.set(payloadFiles.imageReferences, bytes(references))
  if (metadata !== undefined) files.set(payloadFiles.metadata, bytes(metadata))
  return parseReleasePayload(files, 'quay.io/ocp-release:1')
}

const pullspec = `quay.io/a/b@${digestOf('cli')}`
const stream = (tags: readonly object[], name?: string) => ({ kind: 'ImageStream', metadata: { name }, spec: { tags } })
const tag = { name: 'cli', from: { kind: 'DockerImage', name: pullspec } }

const real: readonly { references: string; metadata?: string; version: string; components: number }[] = [
  {
    references: 'release/payload-4.12.0/4.12.0-x86_64_image-references.json',
    metadata: 'release/payload-4.12.0/4.12.0-x86_64_release-metadata.json',
    version: '4.12.0',
    components: 180,
  },
  {
    references: 'mirror/oc-mirror/release/4.14.1-x86_64/image-references',
    metadata: 'mirror/oc-mirror/release/4.14.1-x86_64/release-metadata',
    // The folder says another version than the files in it.
    version: '4.12.0',
    components: 180,
  },
  { references: 'release/image-references/oc-testdata-image-references.json', version: '4.11.0', components: 150 },
]
for (const { references, metadata, version, components } of real) {
  test(`the real payload ${references} is read whole: every component by digest`, (t) => {
    if (!existsSync(join(data, references))) return t.skip('the shared data is not here')
    const text = (path: string) => readFileSync(join(data, path), 'utf8')
    const read = payload(text(references), metadata && text(metadata))
    const listed = (JSON.parse(text(references)) as { spec: { tags: unknown[] } }).spec.tags.length
    assert.equal(read.version, version)
    assert.equal(read.components.length, listed)
    assert.ok(listed >= components, `${listed} components`)
    assert.ok(read.components.every(({ reference }) => reference.digest !== undefined))
    assert.equal(new Set(read.components.map(({ name }) => name)).size, listed)
  })
}

test('release-metadata names the version; without it the ImageStream does', () => {
  const metadata = { kind: 'cincinnati-metadata-v0', version: '4.18.9' }
  assert.equal(payload(stream([tag], '4.18.8'), metadata).version, '4.18.9')
  assert.equal(payload(stream([tag], '4.18.8')).version, '4.18.8')
})

test('a tag that is no image of a registry is passed over', () => {
  const { components } = payload(
    stream([{ name: 'x' }, { name: 'y', from: { kind: 'ImageStreamTag', name: 'z' } }, tag], '1'),
  )
  assert.deepEqual(
    components.map(({ name }) => name),
    ['cli'],
  )
})

const refused: Readonly<Record<string, readonly [unknown, unknown?]>> = {
  'no image-references': [undefined, { kind: 'cincinnati-metadata-v0', version: '1' }],
  'text that is no JSON': ['---'],
  'another kind': [{ ...stream([tag], '1'), kind: 'List' }],
  'no version': [stream([tag])],
  'no image at all': [stream([], '1')],
  'release-metadata of another kind': [stream([tag], '1'), { kind: 'x', version: '1' }],
}
for (const [what, [references, metadata]] of Object.entries(refused)) {
  test(`${what}: refused, with the name of the image`, () => {
    assert.throws(() => payload(references, metadata), {
      code: 'PAYLOAD_INVALID',
      message: /^quay\.io\/ocp-release:1 is no release image: /,
    })
  })
}

test('whatever stands in the files, the answer is a payload or a known error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), fc.option(fc.json()), (references, metadata) => {
      assert.throws(() => payload(references, metadata ?? undefined), { name: 'KnownError' })
    }),
  )
})
