import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { convertToV2alpha1 } from './convert.ts'
import { readDeleteImageSetConfiguration } from './delete-image-set-configuration.ts'
import { parseImageSetConfiguration } from './image-set-configuration.ts'
import { type FileEntry, filePlace } from './image-set-files.ts'
import { readEitherKind } from './image-set-kinds.ts'
import { InvalidConfiguration } from './invalid-config.ts'
import { configurationJsonSchema } from './json-schema.ts'

const sha256 = 'ab12cd34ef56'.padEnd(64, '0')
const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n'

function refusal(files: string): string[] {
  try {
    parseImageSetConfiguration({ file: 'isc.yaml', text: `${head}  files:\n${files}\n` })
  } catch (error) {
    if (error instanceof InvalidConfiguration) return error.message.split('\n')
    throw error
  }
  throw new Error('it was accepted')
}

test('files and boot images load as they are written', () => {
  const text = `${head}  platform:
    release: quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64
    bootImages:
    - { platform: vmware }
    - { platform: metal, architecture: arm64, format: iso }
  files:
  - url: https://mirror.lab/pub/oc.tar.gz?build=1
    sha256: ${sha256}
    name: oc-client.tar.gz
    targetRepo: tools/oc
    targetTag: v4.18.9
  - path: ./notes.txt
`
  const { mirror } = parseImageSetConfiguration({ file: 'isc.yaml', text })
  assert.deepEqual(mirror.platform?.bootImages, [
    { platform: 'vmware' },
    { platform: 'metal', architecture: 'arm64', format: 'iso' },
  ])
  assert.deepEqual(mirror.files, [
    {
      url: 'https://mirror.lab/pub/oc.tar.gz?build=1',
      sha256,
      name: 'oc-client.tar.gz',
      targetRepo: 'tools/oc',
      targetTag: 'v4.18.9',
    },
    { path: './notes.txt' },
  ])
})

test('where a file goes follows from its entry alone', () => {
  const url = 'https://mirror.lab/pub/RHCOS%20(x86_64).ova?token=x'
  const cases: [FileEntry, string | undefined][] = [
    [{ url, sha256 }, 'RHCOS (x86_64).ova files/rhcos-x86_64-ova:ab12cd34ef56'],
    [{ url, sha256: `sha256:${sha256.toUpperCase()}` }, 'RHCOS (x86_64).ova files/rhcos-x86_64-ova:ab12cd34ef56'],
    [{ path: '/srv/notes.txt' }, 'notes.txt files/notes.txt:latest'],
    [{ path: '/srv/notes.txt', sha256, targetRepo: 'a/b', targetTag: 'v1' }, 'notes.txt a/b:v1'],
    [{ path: '/srv/x', name: '___' }, '___ files/file:latest'],
    [{ path: '/' }, undefined],
    [{ url: 'https://mirror.lab/%2e%2e%2fetc', sha256 }, undefined],
  ]
  for (const [entry, expected] of cases) {
    const place = filePlace(entry)
    assert.equal(place && `${place.name} ${place.repository}:${place.tag}`, expected)
  }
})

test('what is wrong with a file is said at its place', () => {
  const cases: [string, RegExp][] = [
    ['  - { name: x }', /^isc.yaml:5:5: mirror.files\[0\]: a file needs a url or a path$/],
    ['  - { url: "https://m.lab/x" }', /5:5: .*a file behind a URL needs its checksum: add sha256/],
    [`  - { url: "https://m.lab/x", sha256: ${sha256}, path: x }`, /5:\d+: .*not both/],
    [`  - { url: "ftp://m.lab/x", sha256: ${sha256} }`, /5:12: .*not by ftp; /],
    [
      `  - { url: "https://me:secret@m.lab/x", sha256: ${sha256} }`,
      /5:12: .*a name and password in a URL are not read/,
    ],
    [`  - { url: "https://m.lab/", sha256: ${sha256} }`, /5:5: .*add a name/],
    ['  - { path: x, sha256: abc }', /5:24: .*"abc" is no sha256 checksum/],
    ['  - { path: x, name: ../etc/passwd }', /5:22: .*"..\/etc\/passwd" is no plain file name/],
    ['  - { path: x, checksum: 1 }', /5:16: .*there is no field "checksum" here/],
    ['  - { path: a/x }\n  - { path: b/X }', /6:5: .*"X" would be stored as files\/x:latest, and so would "x" above/],
  ]
  for (const [files, expected] of cases) {
    const lines = refusal(files)
    assert.ok(
      lines.some((line) => expected.test(line)),
      `${files}: ${lines.join('\n')}`,
    )
    assert.ok(!lines.join().includes('secret'))
  }
})

test('a file is deleted by name with its version, or as mirror names it', () => {
  const read = (entry: string) =>
    readDeleteImageSetConfiguration({
      file: 'disc.yaml',
      text: `kind: DeleteImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\ndelete:\n  files:\n  - ${entry}\n`,
    }).configuration.delete.files
  for (const entry of [
    `{ url: "https://m.lab/x", sha256: ${sha256} }`,
    '{ path: x }',
    `{ name: x, sha256: ${sha256} }`,
    '{ name: x, targetTag: latest }',
  ])
    assert.equal(read(entry)?.length, 1)
  assert.throws(() => read('{ name: x }'), /5:5: .*which version of the file is to be deleted must be said/)
})

test('converting an old file keeps its files, and the JSON Schema knows them', () => {
  const old = head.replace('v2alpha1', 'v1alpha2')
  const { text } = convertToV2alpha1({ file: 'isc.yaml', text: `${old}  files:\n  - path: ./notes.txt # ours\n` })
  assert.match(text, /v2alpha1[\s\S]* {2}files:\n {2}- path: \.\/notes\.txt # ours\n/)
  const schema = JSON.stringify(configurationJsonSchema('ImageSetConfiguration'))
  assert.match(schema, /"bootImages"/)
  assert.match(schema, /"targetRepo".*"targetTag"/)
})

test('the examples of docs/files.md load', () => {
  const text = readFileSync(new URL('../../docs/files.md', import.meta.url), 'utf8')
  const examples = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, example = '']) => example)
  assert.equal(examples.length, 2)
  for (const example of examples) readEitherKind({ file: 'docs/files.md', text: example })
})
