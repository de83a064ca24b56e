/**
 * Charts against the real helm: what is rendered by it, what it pulls of what we push, and what we read of what it pushes.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type SelectChartsOptions, type SelectedChart, selectCharts } from '../../src/chart/select-charts.ts'
import type { HelmContent } from '../../src/config/image-set-content.ts'
import { systemClock } from '../../src/host/clock.ts'
import { parseManifest } from '../../src/oci/manifest.ts'
import { formatReference, type Reference } from '../../src/oci/reference.ts'
import { makeChart, podTemplate } from '../../testkit/chart.ts'
import { peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'

const data = fileURLToPath(new URL('../../../shared/data/mirror/oc-mirror/helm/charts', import.meta.url))

interface Site {
  readonly options: SelectChartsOptions
  readonly cwd: string
  /** Runs helm with a home of its own. */
  readonly helm: (...args: string[]) => Promise<string>
}

async function site(t: TestContext): Promise<Site | undefined> {
  const path = peer(t, 'helm')
  if (path === undefined) return undefined
  const cwd = await tempDir(t)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: cwd,
    HELM_CONFIG_HOME: cwd,
    HELM_CACHE_HOME: cwd,
    HELM_DATA_HOME: cwd,
  }
  const options = {
    web: testWebClient(t).client,
    registry: testClient(t).client,
    directory: join(cwd, 'kept'),
    cwd,
    signal: new AbortController().signal,
    helm: { path, env, clock: systemClock },
  }
  const helm = async (...args: string[]) => (await promisify(execFile)(path, args, { cwd, env })).stdout
  return { options, cwd, helm }
}

/** The images of a chart of the real ones; undefined after the test was skipped. */
async function realImages(t: TestContext, file: string, more: object = {}): Promise<string[] | undefined> {
  if (!existsSync(data)) return void t.skip('the data is not here')
  const here = await site(t)
  if (!here) return undefined
  const { images, charts, unreadable } = await selectCharts(
    { local: [{ name: file, path: join(data, file), ...more }] },
    here.options,
  )
  assert.deepEqual([unreadable, charts.length], [[], 1])
  return images.map(({ reference }) => formatReference(reference).replace(/@.*/, ''))
}

test('ingress-nginx: the images of its Deployment and of its hooks, by tag and digest', async (t) => {
  const images = await realImages(t, 'ingress-nginx-4.12.1.tgz')
  if (!images) return
  assert.deepEqual(images, [
    'registry.k8s.io/ingress-nginx/controller:v1.12.1',
    'registry.k8s.io/ingress-nginx/kube-webhook-certgen:v1.5.2',
  ])
})

test('podinfo: the images of its tests too', async (t) => {
  const images = await realImages(t, 'podinfo-5.0.0.tgz')
  if (!images) return
  assert.deepEqual(images, [
    'ghcr.io/stefanprodan/podinfo:5.0.0',
    'docker.io/stefanprodan/grpc_health_probe:v0.3.0',
    'docker.io/giantswarm/tiny-tools:latest',
    'docker.io/curlimages/curl:7.69.0',
  ])
})

test('a chart within a chart under another name: its images, and those of the chart within it', async (t) => {
  const images = await realImages(t, 'my-chart-with-subchart-alias-0.1.0.tgz')
  if (!images) return
  assert.deepEqual(images, [
    'quay.io/rhdh-community/rhdh:next',
    'docker.io/library/nginx:1.16.0',
    'quay.io/fedora/postgresql-15:latest',
    'docker.io/library/busybox:latest',
  ])
})

test('service-binding-operator: an image by digest; with a JSONPath also what stands in the environment', async (t) => {
  const images = await realImages(t, 'service-binding-operator-1.4.1.tgz')
  if (!images) return
  assert.ok(images.includes('quay.io/redhat-developer/servicebinding-operator'))
  const wide = { imagePaths: ['{.spec.template.spec.containers[*].env[*].value}'] }
  assert.deepEqual(await realImages(t, 'test-mirror-helm-0.3.0.tgz', wide), [
    'quay.io/nginx/nginx-ingress:latest',
    'quay.io/prometheus/prometheus:latest',
  ])
})

test('a chart for another Kubernetes than helm was built with is rendered; with values files it has their images', async (t) => {
  const here = await site(t)
  if (!here) return
  const { options, cwd } = here
  const old = { 'templates/pod.yaml': podTemplate, 'values.yaml': 'image: quay.io/lab/default:1' }
  await writeFile(
    join(cwd, 'old.tgz'),
    makeChart({ name: 'old', version: '1.0.0', metadata: { kubeVersion: '>=1.19, <1.22' }, files: old }),
  )
  await writeFile(join(cwd, 'a.yaml'), 'image: quay.io/lab/a:1')
  await writeFile(join(cwd, 'b.yaml'), 'image: quay.io/lab/b:1')
  const content = { local: [{ name: 'old', path: 'old.tgz', values: ['a.yaml', 'b.yaml'] }] }
  const { images, unreadable, findings } = await selectCharts(content, {
    ...options,
    helm: { ...options.helm, kubeVersion: '1.33.0' },
  })
  assert.deepEqual(unreadable, [])
  assert.deepEqual(
    images.map(({ reference }) => formatReference(reference)),
    ['quay.io/lab/default:1', 'quay.io/lab/b:1'],
  )
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['chart.kube-version'],
  )
})

test('a chart that asks for values is told with what it asks for', async (t) => {
  const here = await site(t)
  if (!here) return
  const template = '{{ required "a password is needed" .Values.password }}'
  await mkdir(join(here.cwd, 'dir/templates'), { recursive: true })
  await writeFile(join(here.cwd, 'dir/Chart.yaml'), 'apiVersion: v2\nname: strict\nversion: 1.0.0\n')
  await writeFile(join(here.cwd, 'dir/templates/a.yaml'), template)
  const { charts, unreadable } = await selectCharts({ local: [{ name: 'strict', path: 'dir' }] }, here.options)
  assert.equal(charts.length, 1)
  assert.match(unreadable[0]?.error.message ?? '', /with its own values: Error: .*a password is needed/)
})

test('helm pulls what we push: the chart, byte for byte, under its name and version', async (t) => {
  const here = await site(t)
  if (!here) return
  const { options, cwd, helm } = here
  const registry = await testRegistry(t)
  const bytes = makeChart({ name: 'app', version: '1.0.0+build.7', metadata: { description: 'A chart' } })
  await writeFile(join(cwd, 'app.tgz'), bytes)
  const { charts } = await selectCharts({ local: [{ name: 'app', path: 'app.tgz' }] }, options)
  for (const chart of charts)
    await push(t, chart, { registry: registry.address, repository: `lab/${chart.repository}` })
  const pulled = ['pull', `oci://${registry.address}/lab/charts/app`, '--version', '1.0.0+build.7', '--plain-http']
  await helm(...pulled)
  assert.deepEqual(await readFile(join(cwd, 'app-1.0.0+build.7.tgz')), bytes)
  assert.match(await helm('show', 'chart', join(cwd, 'app-1.0.0+build.7.tgz')), /^description: A chart$/m)
})

test('what helm pushed is carried unchanged; without a version it is the newest', async (t) => {
  const here = await site(t)
  if (!here) return
  const { options, cwd, helm } = here
  const registry = await testRegistry(t)
  const files = { 'templates/pod.yaml': podTemplate, 'values.yaml': 'image: quay.io/lab/app:1' }
  for (const version of ['1.0.0', '1.10.0+b', '1.9.0', '2.0.0-rc.1']) {
    await writeFile(join(cwd, 'app.tgz'), makeChart({ name: 'app', version, files }))
    await helm('push', 'app.tgz', `oci://${registry.address}/charts`, '--plain-http')
  }
  const url = `oci://${registry.address}/charts`
  const content: HelmContent = {
    repositories: [
      {
        name: 'lab',
        url,
        charts: [{ name: 'app' }, { name: 'app', version: '1.9.0' }, { name: 'app', version: '~3' }, { name: 'none' }],
      },
    ],
  }
  const { charts, images, unreadable } = await selectCharts(content, options)
  assert.deepEqual(
    charts.map(({ tag }) => tag),
    ['1.10.0_b', '1.9.0'],
  )
  assert.equal(images.length, 1)
  assert.deepEqual(
    unreadable.map(({ error }) => error.code),
    ['CHART_UNKNOWN', 'CHART_UNKNOWN'],
  )
  const there = await testClient(t).client.resolve({
    registry: registry.address,
    repository: 'charts/app',
    tag: '1.10.0_b',
  })
  assert.equal(charts[0]?.digest, there?.digest)
  const target = await testRegistry(t)
  for (const chart of charts) await push(t, chart, { registry: target.address, repository: chart.repository })
  await helm('pull', `oci://${target.address}/charts/app`, '--version', '1.9.0', '--plain-http')
})

/** As a transfer does it: blobs first, the manifest last. */
async function push(t: TestContext, chart: SelectedChart, to: Reference): Promise<void> {
  const { client } = testClient(t)
  for (const manifest of chart.manifests) {
    const read = parseManifest(manifest.bytes, manifest.descriptor.mediaType, chart.name)
    assert.equal(read.kind, 'image')
    if (read.kind !== 'image') continue
    for (const descriptor of [read.config, ...read.layers]) {
      const open = chart.blobs.get(descriptor.digest)
      assert.ok(open)
      await client.pushBlob(to, descriptor, (offset, signal) => open({ offset, signal }))
    }
    await client.pushManifest({ ...to, tag: chart.tag }, manifest)
  }
}
