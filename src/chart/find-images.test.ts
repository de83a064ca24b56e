import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownError } from '../errors/known-error.ts'
import { formatReference } from '../oci/reference.ts'
import { parseJsonPath } from '../openshift/json-path.ts'
import { findImages } from './find-images.ts'

const origin = 'chart sample 1.0.0'

function imagesIn(text: string, ...paths: string[]): string[] {
  const { images } = findImages(text, { origin, imagePaths: paths.map(parseJsonPath) })
  return images.map(({ reference, place }) => `${formatReference(reference)} | ${place}`)
}

const digest = `sha256:${'a'.repeat(64)}`

test('the images of every kind of pod template are found, each with its place', () => {
  const text = `---
# Source: sample/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata: { name: web-7d8f }
spec:
  template:
    spec:
      initContainers: [{ name: init, image: quay.io/lab/init:1 }]
      containers: [{ name: main, image: "quay.io/lab/main@${digest}" }, { name: without }]
      ephemeralContainers: [{ name: debug, image: quay.io/lab/debug }]
      volumes: [{ name: model, image: { reference: quay.io/lab/model:1 } }, { name: none, emptyDir: {} }]
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: nightly }
spec: { jobTemplate: { spec: { template: { spec: { containers: [{ image: "quay.io/lab/cron:1" }] } } } } }
---
apiVersion: v1
kind: Pod
metadata: { generateName: hook- }
spec: { containers: [{ image: busybox }] }
`
  assert.deepEqual(imagesIn(text), [
    'quay.io/lab/init:1 | Deployment of sample/templates/deployment.yaml, spec.template.spec.initContainers[0].image',
    `quay.io/lab/main@${digest} | Deployment of sample/templates/deployment.yaml, spec.template.spec.containers[0].image`,
    'quay.io/lab/debug:latest | Deployment of sample/templates/deployment.yaml, spec.template.spec.ephemeralContainers[0].image',
    'quay.io/lab/model:1 | Deployment of sample/templates/deployment.yaml, spec.template.spec.volumes[0].image.reference',
    'quay.io/lab/cron:1 | CronJob nightly, spec.jobTemplate.spec.template.spec.containers[0].image',
    'docker.io/library/busybox:latest | Pod hook-, spec.containers[0].image',
  ])
})

test('the items of a List and the templates within custom resources are found', () => {
  const text = `
kind: List
items:
- { kind: DaemonSet, metadata: { name: agent }, spec: { template: { spec: { containers: [{ image: "quay.io/lab/agent:1" }] } } } }
- kind: PodList
  items: [{ kind: Pod, metadata: { name: inner }, spec: { containers: [{ image: "quay.io/lab/inner:1" }] } }]
---
kind: Cluster
metadata: { name: db }
spec:
  pools:
  - podTemplate: { spec: { containers: [{ image: "quay.io/lab/pool:1" }] } }
  imageName: quay.io/lab/engine:1
`
  assert.deepEqual(imagesIn(text, '{.spec.imageName}'), [
    'quay.io/lab/agent:1 | DaemonSet agent, spec.template.spec.containers[0].image',
    'quay.io/lab/inner:1 | Pod inner, spec.containers[0].image',
    'quay.io/lab/pool:1 | Cluster db, spec.pools[0].podTemplate.spec.containers[0].image',
    'quay.io/lab/engine:1 | Cluster db, spec.imageName',
  ])
})

test('a JSONPath begins at each document, and takes single values and lists', () => {
  const text = `
kind: Engine
metadata: { name: one }
spec: { images: ["quay.io/lab/a:1", "quay.io/lab/b:1"], template: { spec: { custom: [{ image: plain }] } } }
`
  assert.deepEqual(imagesIn(text, '.spec.images', '{.spec.template.spec.custom[*].image}'), [
    'quay.io/lab/a:1 | Engine one, spec.images',
    'quay.io/lab/b:1 | Engine one, spec.images',
    'docker.io/library/plain:latest | Engine one, spec.template.spec.custom[0].image',
  ])
})

test('what a wide JSONPath finds beside images is told without its value, and not asked of Docker Hub', () => {
  const text = `
kind: Pod
metadata: { name: operator }
spec:
  containers:
  - image: quay.io/lab/operator:1
    env: [{ name: RELATED, value: "quay.io/lab/operand:1" }, { name: DEBUG, value: "true" }, { name: URL, value: "http://a:80/" }]
`
  const { images, findings } = findImages(text, {
    origin,
    imagePaths: [parseJsonPath('.spec.containers[*].env[*].value')],
  })
  assert.deepEqual(
    images.map(({ reference }) => formatReference(reference)),
    ['quay.io/lab/operator:1', 'quay.io/lab/operand:1'],
  )
  assert.deepEqual(
    findings.map(({ id, severity, summary }) => [id, severity, summary]),
    [
      [
        'chart.no-image',
        'info',
        'chart sample 1.0.0: .spec.containers[*].env[*].value also leads to 2 values that are no images: Pod operator, spec.containers[0].env[1].value; Pod operator, spec.containers[0].env[2].value',
      ],
    ],
  )
})

test('a name that is none is a finding with its place, and the other images are found', () => {
  const text = `
kind: Pod
metadata: { name: half }
spec: { containers: [{ image: "quay.io/Lab/UPPER:1" }, { image: ":" }, { image: auto }, { image: quay.io/lab/good:1 }] }
`
  const { images, findings } = findImages(text, { origin })
  assert.equal(images.length, 1)
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['chart.image-invalid', 'chart.image-invalid', 'chart.image-injected'],
  )
  assert.match(
    findings[0]?.summary ?? '',
    /^chart sample 1\.0\.0: Pod half, spec\.containers\[0\]\.image: "quay\.io\/Lab/,
  )
})

test('the schema of a CustomResourceDefinition and text within a ConfigMap name no images', () => {
  const text = `
kind: CustomResourceDefinition
metadata: { name: pods.lab }
spec: { default: { containers: [{ image: "quay.io/lab/schema:1" }] } }
---
kind: ConfigMap
metadata: { name: text }
data: { pod.yaml: "spec: { containers: [{ image: quay.io/lab/text:1 }] }" }
---
# only a comment
---
just text
`
  assert.deepEqual(imagesIn(text), [])
  assert.deepEqual(imagesIn(''), [])
})

test('what is no YAML is told with the template that it comes from', () => {
  assert.throws(
    () => findImages('---\n# Source: sample/templates/bad.yaml\na: [\n', { origin }),
    (error) =>
      error instanceof KnownError && error.code === 'HELM_FAILED' && /templates\/bad\.yaml/.test(error.message),
  )
})
