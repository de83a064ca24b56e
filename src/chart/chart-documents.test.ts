import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HelmContent } from '../config/image-set-content.ts'
import { KnownError } from '../errors/known-error.ts'
import { digestOf } from '../oci/digest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { chartDocument, chartsFromDocuments } from './chart-documents.ts'
import type { KnownChart } from './select-charts.ts'

function chart(name: string, version: string, asked: readonly string[]): KnownChart {
  return {
    name,
    version,
    repository: `charts/${name}`,
    tag: version.replace('+', '_'),
    digest: digestOf(Buffer.from(name)),
    why: `helm ${name}`,
    asked,
    images: [
      { reference: parseReference('quay.io/lab/both:1'), why: 'a place' },
      {
        reference: parseReference(`quay.io/lab/${name}:1@${digestOf(Buffer.from('x'))}`),
        why: 'another place',
        platforms: [{ os: 'linux', architecture: 'arm64' }],
      },
    ],
  }
}

const url = 'https://charts.lab/stable'
const options = { cwd: '/anywhere', origin: 'archive a.tar' }

function documentsOf(...charts: readonly KnownChart[]): Map<string, Uint8Array> {
  return new Map(charts.map((one) => [chartDocument(one).name, chartDocument(one).bytes]))
}

test('what was selected on one side is what the same configuration selects on the other', () => {
  const one = chart('app', '1.0.0+b', [`${url} app`, 'local app.tgz'])
  const documents = documentsOf(one, chart('unasked', '1.0.0', [`${url} unasked 1.0.0`]))
  documents.set('graph/stable-4.18.json', Buffer.from('[]'))
  assert.ok(documents.has('chart/app-1.0.0+b.json'))
  const content = HelmContent.parse({ repositories: [{ name: 's', url: `${url}/`, charts: [{ name: 'app' }] }] })
  const { charts, images, unreadable } = chartsFromDocuments(content, documents, options)
  assert.deepEqual(charts, [one])
  assert.deepEqual(images, one.images)
  assert.deepEqual(unreadable, [])
  const local = chartsFromDocuments({ local: [{ name: 'app', path: 'app.tgz' }] }, documents, options)
  assert.deepEqual(local.charts, [one])
})

test('a line that asks for a whole repository is answered by all its charts, each image once', () => {
  const documents = documentsOf(chart('a', '1.0.0', [url]), chart('b', '1.0.0', [url]))
  const { charts, images } = chartsFromDocuments({ repositories: [{ name: 's', url }] }, documents, options)
  assert.equal(charts.length, 2)
  assert.deepEqual(
    images.map(({ reference }) => formatReference(reference).replace(/@.*/, '')),
    ['quay.io/lab/both:1', 'quay.io/lab/a:1', 'quay.io/lab/b:1'],
  )
})

test('a line that the archive does not answer is told', () => {
  const documents = documentsOf(chart('app', '1.0.0', [`${url} app 1.0.0`]))
  const content = { repositories: [{ name: 's', url, charts: [{ name: 'app', version: '2.0.0' }] }] }
  const { charts, unreadable } = chartsFromDocuments(content, documents, options)
  assert.deepEqual(charts, [])
  assert.deepEqual(
    unreadable.map(({ error }) => [error.code, error.message]),
    [['CHART_UNKNOWN', `archive a.tar has no chart for the line "app 2.0.0 of ${url}" of the configuration`]],
  )
})

test('a document that describes no chart is refused', () => {
  const good = JSON.parse(Buffer.from(chartDocument(chart('app', '1.0.0', [])).bytes).toString())
  for (const bad of [
    '',
    '[]',
    JSON.stringify({ ...good, name: '../x' }),
    JSON.stringify({ ...good, images: [{ reference: ':', why: '' }] }),
  ])
    assert.throws(
      () => chartsFromDocuments({}, new Map([['chart/app-1.0.0.json', Buffer.from(bad)]]), options),
      (error) => error instanceof KnownError && error.code === 'CHART_INVALID',
      bad,
    )
})
