import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRegistriesConf } from '../../registries/parse.ts'
import type { FailedPull } from '../pull/image-puller.ts'
import type { FailedEndpoint, PullFault } from '../pull/pull-failure.ts'
import { pullCauses } from './pull-causes.ts'
import type { WantedImage } from './wanted-images.ts'

const digest = `sha256:${'a'.repeat(64)}`

function wanted(name: string): WantedImage {
  return {
    name,
    reference: `quay.io/ocp/${name}@${digest}`,
    use: 'script',
    isOptional: false,
    evidence: [],
    sides: ['bootstrap'],
  }
}

function endpoint(place: string, fault: PullFault, more: Partial<FailedEndpoint> = {}): FailedEndpoint {
  const host = place.split('/')[0] ?? ''
  return { reference: `${place}@${digest}`, host, isMirror: host !== 'quay.io', fault, message: fault, ...more }
}

function failed(name: string, ...endpoints: readonly FailedEndpoint[]) {
  const pull: FailedPull = { kind: 'failed', reference: wanted(name).reference, message: '', endpoints }
  return { wanted: wanted(name), pulls: { bootstrap: pull } }
}

const outside = endpoint('quay.io/ocp/x', 'outside')

function kinds(tried: Parameters<typeof pullCauses>[0], conf = '[[registry]]\nlocation = "quay.io/ocp"\n') {
  const causes = pullCauses(tried, { bootstrap: parseRegistriesConf(conf, 'registries.conf') })
  return causes.map(({ kind, place, images }) => [kind, place, images.length])
}

test('a fault of a registry is one cause for all its repositories', () => {
  const tried = ['a', 'b', 'c'].map((name) => failed(name, endpoint(`mirror.lab/ocp/${name}`, 'ca-unknown'), outside))
  assert.deepEqual(kinds(tried), [['ca-unknown', 'mirror.lab', 3]])
})

test('a fault of content is one cause for each repository, and configs are not layers', () => {
  const tried = [
    failed('a', endpoint('mirror.lab/ocp', 'manifest-missing'), outside),
    failed('b', endpoint('mirror.lab/other', 'manifest-missing'), outside),
    failed('c', endpoint('mirror.lab/ocp', 'blob-missing', { part: 'config' })),
    failed('d', endpoint('mirror.lab/ocp', 'blob-missing', { part: 'layer' })),
  ]
  assert.deepEqual(kinds(tried), [
    ['manifest-missing', 'mirror.lab/ocp', 1],
    ['manifest-missing', 'mirror.lab/other', 1],
    ['config-missing', 'mirror.lab/ocp', 1],
    ['layer-missing', 'mirror.lab/ocp', 1],
  ])
})

test('each mirror that fails is a cause, and the source that is out of reach is none', () => {
  const tried = [failed('a', endpoint('one.lab/ocp', 'refused'), endpoint('two.lab/ocp', 'manifest-missing'), outside)]
  assert.deepEqual(kinds(tried), [
    ['refused', 'one.lab', 1],
    ['manifest-missing', 'two.lab/ocp', 1],
  ])
})

test('an image that is asked for outside alone is uncovered, passed over for its tag, or without any mirror', () => {
  const mirrored = (source: string) =>
    `[[registry]]\nlocation = "${source}"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "mirror.lab/ocp"\n`
  const byTag = failed('a', outside)
  const tagged = { ...byTag, pulls: { bootstrap: { ...byTag.pulls.bootstrap, reference: 'quay.io/ocp/a:4.18' } } }
  assert.deepEqual(kinds([failed('a', outside)], mirrored('quay.io/elsewhere')), [['outside', 'quay.io/ocp/x', 1]])
  assert.deepEqual(kinds([tagged], mirrored('quay.io/ocp')), [['tag-reference', 'quay.io/ocp/x', 1]])
  assert.deepEqual(kinds([failed('a', outside)]), [['no-mirror', 'quay.io', 1]])
})
