import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { looksLikeObjects, parseClusterImages } from './cluster-images.ts'

function namesOf(...objects: object[]): string[] {
  const list = { apiVersion: 'v1', kind: 'List', items: objects }
  return parseClusterImages(JSON.stringify(list), 'objects.json').map(({ name }) => name)
}

test('a pod uses the images of all its containers, and those that its status names', () => {
  const pod = {
    kind: 'Pod',
    metadata: { namespace: 'shop', name: 'web-1' },
    spec: {
      containers: [{ image: 'r/a:1' }],
      initContainers: [{ image: 'r/b:1' }],
      ephemeralContainers: [{ image: 'r/c:1' }],
      volumes: [{ image: { reference: 'r/model:1' } }, { emptyDir: {} }],
    },
    status: {
      containerStatuses: [{ image: 'r/a:1', imageID: 'docker-pullable://r/a@sha256:aa' }],
      initContainerStatuses: [{ image: 'r/b:1', imageID: 'cri-o://r/b@sha256:bb' }],
    },
  }
  assert.deepEqual(namesOf(pod), ['r/a:1', 'r/b:1', 'r/c:1', 'r/model:1', 'r/a@sha256:aa', 'r/b@sha256:bb'])
  assert.equal(parseClusterImages(JSON.stringify(pod), 'x')[0]?.user, 'Pod shop/web-1')
})

test('what makes pods later uses their images already now', () => {
  const template = { spec: { containers: [{ image: 'r/a:1' }] } }
  assert.deepEqual(namesOf({ kind: 'Deployment', spec: { template } }), ['r/a:1'])
  assert.deepEqual(namesOf({ kind: 'CronJob', spec: { jobTemplate: { spec: { template } } } }), ['r/a:1'])
})

test('nodes, catalogs and image streams use images too', () => {
  const node = { kind: 'Node', status: { images: [{ names: ['r/n@sha256:cc', 'r/n:1'], sizeBytes: 1 }] } }
  const source = { kind: 'CatalogSource', spec: { sourceType: 'grpc', image: 'r/index:v4.18' } }
  const catalog = { kind: 'ClusterCatalog', spec: { source: { type: 'Image', image: { ref: 'r/other:v4.18' } } } }
  const stream = {
    kind: 'ImageStream',
    spec: {
      tags: [
        { name: 'a', from: { kind: 'DockerImage', name: 'r/from:1' } },
        { name: 'b', from: { kind: 'ImageStreamTag', name: 'a' } },
      ],
    },
    status: { tags: [{ tag: 'a', items: [{ dockerImageReference: 'r/from@sha256:dd' }] }] },
  }
  assert.deepEqual(namesOf(node, source, catalog, stream), [
    'r/n@sha256:cc',
    'r/n:1',
    'r/index:v4.18',
    'r/other:v4.18',
    'r/from:1',
    'r/from@sha256:dd',
  ])
})

test('the release that a cluster runs is told from those that it ran', () => {
  const version = {
    kind: 'ClusterVersion',
    metadata: { name: 'version' },
    status: {
      desired: { image: 'q/r@sha256:1' },
      history: [
        { state: 'Completed', image: 'q/r@sha256:1' },
        { state: 'Completed', image: 'q/r@sha256:0' },
      ],
    },
  }
  const images = parseClusterImages(JSON.stringify(version), 'x')
  assert.deepEqual(
    images.map(({ name, release }) => [name, release]),
    [
      ['q/r@sha256:1', 'desired'],
      ['q/r@sha256:0', 'past'],
    ],
  )
})

test('during an update, the release before it still runs in parts', () => {
  const version = {
    kind: 'ClusterVersion',
    status: {
      desired: { image: 'q/r@sha256:3' },
      history: [
        { state: 'Partial', image: 'q/r@sha256:3' },
        { state: 'Partial', image: 'q/r@sha256:2' },
        { state: 'Completed', image: 'q/r@sha256:1' },
        { state: 'Completed', image: 'q/r@sha256:0' },
      ],
    },
  }
  const images = parseClusterImages(JSON.stringify(version), 'x')
  assert.deepEqual(
    images.map(({ name, release }) => `${name} ${release}`),
    ['q/r@sha256:3 desired', 'q/r@sha256:2 desired', 'q/r@sha256:1 desired', 'q/r@sha256:0 past'],
  )
  const installing = { kind: 'ClusterVersion', status: { history: [{ state: 'Partial', image: 'q/r@sha256:1' }] } }
  assert.equal(parseClusterImages(JSON.stringify(installing), 'x')[0]?.release, 'desired')
})

test('objects of real clusters are read, and every release that they name is found', (t) => {
  const directory = new URL('../../../shared/data/logs/upgrade-status/', import.meta.url)
  if (!existsSync(directory)) return t.skip('the shared data is not here')
  const files = readdirSync(directory).filter((name) => /-(?:cv|node)\.yaml$/.test(name))
  assert.ok(files.length > 5)
  for (const name of files) {
    const text = readFileSync(new URL(name, directory), 'utf8')
    const named = text.match(/^ +-? *image: \S+@sha256:[0-9a-f]{64}$/gm) ?? []
    const found = new Set(parseClusterImages(text, name).map((image) => image.name))
    for (const line of named) {
      const isAvailable = name.endsWith('-cv.yaml') && !found.has(line.replace(/^.*image: /, ''))
      // Updates that a cluster could make are not what it uses.
      if (isAvailable) assert.ok(text.includes('availableUpdates') || text.includes('conditionalUpdates'), name)
    }
    if (name.endsWith('-cv.yaml')) assert.ok(found.size > 0, name)
  }
})

test('YAML of several documents, lists of the API server and objects of no interest are read alike', () => {
  const text = `---\nkind: PodList\nitems:\n- spec: {containers: [{image: r/a:1}]}\n---\nkind: ConfigMap\ndata: {image: r/no:1}\n---\n`
  assert.deepEqual(
    parseClusterImages(text, 'x').map(({ name }) => name),
    ['r/a:1'],
  )
  assert.ok(looksLikeObjects(text) && looksLikeObjects('{"apiVersion": "v1", "kind": "List", "items": []}'))
  assert.ok(!looksLikeObjects('quay.io/kind:1\n# kind of images\nquay.io/b:2\n'))
})

test('what cannot be read is refused with the name of its file', () => {
  for (const text of ['{"kind": ', 'kind: [', 'kind: *nothing'])
    assert.throws(() => parseClusterImages(text, 'pods.json'), { code: 'CONFIG_INVALID', message: /^pods\.json: / })
})
