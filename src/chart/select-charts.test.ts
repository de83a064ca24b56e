import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { makeChart, podTemplate, serveCharts } from '../../testkit/chart.ts'
import { type ScriptedWeb, startScriptedWeb } from '../../testkit/scripted-web.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'
import { HelmContent } from '../config/image-set-content.ts'
import { systemClock } from '../host/clock.ts'
import { digestOf } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'
import { type ChartSelection, type SelectChartsOptions, selectCharts } from './select-charts.ts'

const templated = { files: { 'templates/pod.yaml': podTemplate } }

/** Says, in place of helm, that every chart is a pod, with the image `default`, or that which the first values file is. */
const standIn = `#!/bin/sh
image=quay.io/lab/default:1
while [ $# -gt 0 ]; do [ "$1" = --values ] && image=$(cat "$2"); shift; done
[ "$image" = bad ] && { echo "Error: no image" >&2; exit 1; }
printf -- '---\\n# Source: app/templates/pod.yaml\\nkind: Pod\\nspec: { containers: [ { image: "%s" } ] }\\n' "$image"
`

async function optionsFor(t: TestContext, more: Partial<SelectChartsOptions> = {}): Promise<SelectChartsOptions> {
  const cwd = await tempDir(t)
  const path = join(cwd, 'helm')
  await writeFile(path, standIn)
  await chmod(path, 0o755)
  return {
    web: testWebClient(t).client,
    registry: testClient(t).client,
    directory: join(cwd, 'kept'),
    cwd,
    signal: new AbortController().signal,
    helm: { path, env: { PATH: '/usr/bin:/bin' }, clock: systemClock },
    ...more,
  }
}

async function site(t: TestContext): Promise<{ web: ScriptedWeb; url: string; options: SelectChartsOptions }> {
  const web = await startScriptedWeb(t)
  const url = serveCharts(web, [
    { name: 'app', version: '1.0.0', ...templated },
    { name: 'app', version: '1.1.0', ...templated },
    { name: 'other', version: '0.1.0', ...templated },
    { name: 'lib', version: '0.1.0', metadata: { type: 'library' } },
  ])
  return { web, url, options: await optionsFor(t) }
}

function content(repository: object): HelmContent {
  return HelmContent.parse({ repositories: [{ name: 'stable', ...repository }] })
}

function names({ charts }: ChartSelection): string[] {
  return charts.map(({ repository, tag }) => `${repository}:${tag}`).sort()
}

function errors({ unreadable }: ChartSelection): string[] {
  return unreadable.map(({ error }) => error.code)
}

test('a chart without a version is the newest, with its images and where they stand', async (t) => {
  const { url, options } = await site(t)
  const selection = await selectCharts(content({ url, charts: [{ name: 'app' }] }), options)
  assert.deepEqual(names(selection), ['charts/app:1.1.0'])
  assert.deepEqual(
    selection.images.map(({ reference, why }) => [formatReference(reference), why]),
    [['quay.io/lab/default:1', 'helm app 1.1.0: Pod of app/templates/pod.yaml, spec.containers[0].image']],
  )
  assert.deepEqual([errors(selection), selection.findings], [[], []])
})

test('a repository without a list of charts is all of them, in all versions, but for libraries', async (t) => {
  const { url, options } = await site(t)
  const selection = await selectCharts(content({ url: `${url}/` }), options)
  assert.deepEqual(names(selection), ['charts/app:1.0.0', 'charts/app:1.1.0', 'charts/other:0.1.0'])
  assert.equal(selection.charts[0]?.asked[0], url)
})

test('a chart that is on this machine already is not fetched again', async (t) => {
  const { web, url, options } = await site(t)
  const asked = content({ url, charts: [{ name: 'app' }] })
  const first = await selectCharts(asked, options)
  web.files.delete('/stable/app-1.1.0.tgz')
  assert.deepEqual((await selectCharts(asked, options)).charts[0]?.digest, first.charts[0]?.digest)
})

test('what lies there and is not what its name says is fetched again', async (t) => {
  const { url, options } = await site(t)
  const charts = [
    { name: 'app', version: '1.0.0' },
    { name: 'app', version: '1' },
    { name: 'app' },
    { name: 'app', version: 'v1.1.0' },
  ]
  await selectCharts(content({ url, charts }), options)
  const files = await readdir(options.directory)
  assert.equal(files.length, 2)
  const whole = await Promise.all(files.map((file) => readFile(join(options.directory, file))))
  for (const file of files) await writeFile(join(options.directory, file), 'cut')
  await selectCharts(content({ url, charts }), options)
  assert.deepEqual(await Promise.all(files.map((file) => readFile(join(options.directory, file)))), whole)
})

test('values files and the chart’s own values are rendered each for itself, and united', async (t) => {
  const { url, options } = await site(t)
  await writeFile(join(options.cwd, 'mine.yaml'), 'quay.io/lab/mine:1')
  const images = async (more: object) => {
    const selection = await selectCharts(
      content({ url, charts: [{ name: 'app', values: ['mine.yaml'], ...more }] }),
      options,
    )
    return selection.images.map(({ reference }) => formatReference(reference)).sort()
  }
  assert.deepEqual(await images({}), ['quay.io/lab/default:1', 'quay.io/lab/mine:1'])
  assert.deepEqual(await images({ includeDefaults: false }), ['quay.io/lab/mine:1'])
})

test('a rendering that fails keeps back neither the chart nor the other rendering', async (t) => {
  const { url, options } = await site(t)
  await writeFile(join(options.cwd, 'bad.yaml'), 'bad')
  const selection = await selectCharts(content({ url, charts: [{ name: 'app', values: ['bad.yaml'] }] }), options)
  assert.deepEqual(names(selection), ['charts/app:1.1.0'])
  assert.equal(selection.images.length, 1)
  assert.deepEqual(errors(selection), ['HELM_FAILED'])
})

test('without helm each chart says so, and what its annotations say of images is taken as a part', async (t) => {
  const annotations = { 'artifacthub.io/images': '- name: a\n  image: quay.io/lab/annotated:1\n- image: ":"\n' }
  const web = await startScriptedWeb(t)
  const url = serveCharts(web, [
    { name: 'app', version: '1.0.0', ...templated, metadata: { annotations } },
    { name: 'files', version: '1.0.0', metadata: { annotations } },
  ])
  const options = await optionsFor(t)
  const selection = await selectCharts(content({ url }), {
    ...options,
    helm: { ...options.helm, path: '/nowhere/helm' },
  })
  assert.deepEqual(names(selection), ['charts/app:1.0.0', 'charts/files:1.0.0'])
  assert.deepEqual(
    selection.images.map(({ reference, why }) => [formatReference(reference), why]),
    [['quay.io/lab/annotated:1', 'helm app 1.0.0: Chart.yaml, annotation artifacthub.io/images']],
  )
  assert.deepEqual(errors(selection), ['HELM_ABSENT'])
  assert.deepEqual(
    selection.findings.map(({ id }) => id),
    ['chart.images-partial'],
  )
})

test('one chart that is not to be had does not stop the others', async (t) => {
  const { web, url, options } = await site(t)
  web.files.set('/stable/app-1.1.0.tgz', makeChart({ name: 'app', version: '6.6.6' }))
  web.files.delete('/stable/app-1.0.0.tgz')
  const charts = [{ name: 'app' }, { name: 'app', version: '1.0.0' }, { name: 'appp' }, { name: 'other' }]
  const selection = await selectCharts(content({ url, charts }), options)
  assert.deepEqual(names(selection), ['charts/other:0.1.0'])
  assert.deepEqual(errors(selection).sort(), ['CHART_UNKNOWN', 'CHART_UNKNOWN', 'FILE_MISMATCH'])
  const gone = await selectCharts(content({ url: `${web.url}/nowhere`, charts: [{ name: 'app' }] }), options)
  assert.match(gone.unreadable[0]?.error.message ?? '', /is no chart repository: it has no index\.yaml/)
})

test('the name and password of a repository are sent to it, and to no other host', async (t) => {
  const { web, url } = await site(t)
  const elsewhere = await startScriptedWeb(t)
  const bytes = makeChart({ name: 'far', version: '1.0.0' })
  elsewhere.files.set('/far.tgz', bytes)
  const urls = [`${elsewhere.url}/far.tgz`]
  serveCharts(web, [
    { name: 'app', version: '1.0.0' },
    { name: 'far', version: '1.0.0', bytes, urls },
  ])
  const asked: string[] = []
  const credentials = {
    find: async (registry: string) => {
      asked.push(registry)
      if (registry !== web.address) return undefined
      return { kind: 'password', username: 'me', password: 'secret', key: registry } as const
    },
  }
  const options = await optionsFor(t, { credentials })
  const seen: (string | undefined)[] = []
  const guard = (path: string, target: ScriptedWeb) => {
    const body = target.files.get(path) ?? ''
    target.routes.set(path, ({ headers }) => {
      seen.push(headers.authorization)
      return { body }
    })
  }
  for (const path of ['/stable/index.yaml', '/stable/app-1.0.0.tgz']) guard(path, web)
  guard('/far.tgz', elsewhere)
  const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`
  await selectCharts(content({ url, charts: [{ name: 'app' }] }), options)
  await selectCharts(content({ url, charts: [{ name: 'far' }] }), options)
  assert.deepEqual(seen, [basic, basic, basic, undefined])
  seen.length = 0
  const inUrl = url.replace('//', '//me:secret@')
  const own = await selectCharts(content({ url: inUrl, charts: [{ name: 'far' }] }), await optionsFor(t))
  assert.deepEqual(seen, [basic, undefined])
  assert.doesNotMatch(JSON.stringify(own.charts.map(({ why, asked }) => [why, asked])), /secret/)
})

test('an index from afar does not make us read files of this machine, one from here does', async (t) => {
  const { web, options } = await site(t)
  const file = join(options.cwd, 'app-1.0.0.tgz')
  const bytes = makeChart({ name: 'app', version: '1.0.0' })
  await writeFile(file, bytes)
  const url = serveCharts(web, [{ name: 'app', version: '1.0.0', bytes, urls: [pathToFileURL(file).href] }])
  assert.deepEqual(errors(await selectCharts(content({ url }), options)), ['CHART_INVALID'])
  serveCharts(web, [{ name: 'app', version: '1.0.0', bytes }])
  await writeFile(join(options.cwd, 'index.yaml'), web.files.get('/stable/index.yaml') ?? '')
  assert.deepEqual(names(await selectCharts(content({ url: pathToFileURL(options.cwd).href }), options)), [
    'charts/app:1.0.0',
  ])
})

test('charts of this machine are packed ones and directories; a directory gives the same artifact each time', async (t) => {
  const options = await optionsFor(t)
  await mkdir(join(options.cwd, 'dir/templates'), { recursive: true })
  await writeFile(join(options.cwd, 'dir/Chart.yaml'), 'apiVersion: v2\nname: own\nversion: 1.0.0+b.1\n')
  await writeFile(join(options.cwd, 'dir/templates/pod.yaml'), podTemplate)
  await writeFile(join(options.cwd, 'app.tgz'), makeChart({ name: 'app', version: '1.0.0' }))
  const local = [
    { name: 'a', path: 'dir', platforms: [{ os: 'linux' as const, architecture: 'arm64' as const }] },
    { name: 'b', path: 'app.tgz' },
    { name: 'c', path: 'nowhere.tgz' },
  ]
  const selection = await selectCharts({ local }, options)
  assert.deepEqual(names(selection), ['charts/app:1.0.0', 'charts/own:1.0.0_b.1'])
  assert.deepEqual(errors(selection), ['FILE_UNREADABLE'])
  assert.deepEqual(selection.images[0]?.platforms, [{ os: 'linux', architecture: 'arm64' }])
  const again = await selectCharts({ local }, { ...options, directory: join(options.cwd, 'again') })
  const digests = ({ charts }: ChartSelection) => charts.map(({ digest }) => digest).sort()
  assert.deepEqual(digests(again), digests(selection))
})

test('the same chart from two places is one; two charts for one place are told, and the first is carried', async (t) => {
  const { web, url, options } = await site(t)
  const same = web.files.get('/stable/other-0.1.0.tgz') ?? new Uint8Array()
  await writeFile(join(options.cwd, 'same.tgz'), same)
  await writeFile(
    join(options.cwd, 'twin.tgz'),
    makeChart({ name: 'other', version: '0.1.0', files: { 'values.yaml': 'a: 1' } }),
  )
  const repositories = [{ name: 's', url, charts: [{ name: 'other' }] }]
  const local = [
    { name: 'same', path: 'same.tgz' },
    { name: 'twin', path: 'twin.tgz' },
  ]
  const selection = await selectCharts({ repositories, local }, options)
  assert.deepEqual(names(selection), ['charts/other:0.1.0'])
  assert.deepEqual(selection.charts[0]?.asked, [`${url} other`, 'local same.tgz'])
  assert.deepEqual(errors(selection), ['CHART_INVALID'])
  assert.match(selection.unreadable[0]?.error.message ?? '', /two different charts.*charts\/other:0\.1\.0/)
})

test('what is carried is the chart, byte for byte, and what names it', async (t) => {
  const { web, url, options } = await site(t)
  const selection = await selectCharts(content({ url, charts: [{ name: 'app' }] }), options)
  const [chart] = selection.charts
  const [manifest] = chart?.manifests ?? []
  const { config, layers, annotations } = JSON.parse(Buffer.from(manifest?.bytes ?? '').toString())
  assert.equal(manifest?.descriptor.digest, chart?.digest)
  assert.equal(config.mediaType, 'application/vnd.cncf.helm.config.v1+json')
  assert.equal(layers[0].mediaType, 'application/vnd.cncf.helm.chart.content.v1.tar+gzip')
  assert.deepEqual(annotations, {
    'org.opencontainers.image.title': 'app',
    'org.opencontainers.image.version': '1.1.0',
  })
  const bytes = web.files.get('/stable/app-1.1.0.tgz') ?? new Uint8Array()
  for (const offset of [0, 10]) {
    const chunks: Uint8Array[] = []
    for await (const chunk of chart?.blobs.get(layers[0].digest)?.({ offset }) ?? []) chunks.push(chunk)
    assert.deepEqual(Buffer.concat(chunks), Buffer.from(bytes.subarray(offset)))
  }
  assert.equal(layers[0].digest, digestOf(bytes))
  const kept = await readFile(join(options.directory, `${digestOf(bytes).replace(':', '-')}.tgz`))
  assert.deepEqual(kept, Buffer.from(bytes))
})
