import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enabledFeatureGates, type Inclusion, usualProfile, whyExcluded } from './extract-inclusion.ts'
import { type Manifest, parseManifests } from './extract-manifests.ts'

const profile = `include.release.openshift.io/${usualProfile}`
const usual: Inclusion = { profile: usualProfile, featureSet: '' }

function manifest(annotations: Readonly<Record<string, string>>, kind = 'ConfigMap', apiVersion = 'v1'): Manifest {
  return { file: 'f', text: '', apiVersion, kind, name: 'n', annotations, object: () => ({}) }
}

function parsed(text: string, file = 'a.yaml') {
  return parseManifests(new Map([[file, Buffer.from(text)]]))
}

test('documents are taken as they stand, and empty ones passed over', () => {
  const { manifests } = parsed(
    '---\n---\nkind: A\nmetadata: {name: a}\n# end\n--- # next\nkind: B\nmetadata:\n  name: b\n',
  )
  assert.deepEqual(
    manifests.map(({ kind, text }) => [kind, text]),
    [
      ['A', 'kind: A\nmetadata: {name: a}\n# end\n'],
      ['B', 'kind: B\nmetadata:\n  name: b\n'],
    ],
  )
})

test('what is no manifest is said with its file, and hides no other', () => {
  const files = new Map([
    ['a.yaml', Buffer.from('kind: A\nmetadata: {name: a}\n')],
    ['b.yml', Buffer.from('kind: A\n')],
    ['c.json', Buffer.from('{"kind":"C","metadata":{"name":"c"}}')],
    ['d.yaml', Buffer.from('- a list')],
    ['e.yaml', Buffer.from('kind: "unfinished')],
    ['f.sh', Buffer.from('#!/bin/sh')],
  ])
  const { manifests, unreadable } = parseManifests(files)
  assert.deepEqual(
    manifests.map(({ kind }) => kind),
    ['A', 'C'],
  )
  assert.deepEqual(
    unreadable.map(({ file }) => file),
    ['b.yml', 'd.yaml', 'e.yaml'],
  )
})

test('sections that nobody asks for are not read until they are', () => {
  const text = 'apiVersion: v1\nspec:\n- *nothing\nkind: A\nmetadata:\n  name: a\n  annotations:\n    x: "1"\n'
  const [found] = parsed(text).manifests
  assert.deepEqual(found?.annotations, { x: '1' })
  assert.throws(() => found?.object())
})

const cases: readonly [
  what: string,
  annotations: Record<string, string>,
  inclusion: Partial<Inclusion>,
  why: RegExp | undefined,
][] = [
  ['the profile', { [profile]: 'true' }, {}, undefined],
  ['another profile', { 'include.release.openshift.io/ibm-cloud-managed': 'true' }, {}, /not for the profile/],
  ['the profile with a value that is unknown', { [profile]: 'false' }, {}, /it says false/],
  ['the default feature set', { [profile]: 'true', 'release.openshift.io/feature-set': 'Default' }, {}, undefined],
  ['several feature sets', { [profile]: 'true', 'release.openshift.io/feature-set': 'OKD,Default' }, {}, undefined],
  [
    'another feature set',
    { [profile]: 'true', 'release.openshift.io/feature-set': 'TechPreviewNoUpgrade' },
    {},
    /TechPreview/,
  ],
  [
    'an unknown feature set',
    { [profile]: 'true', 'release.openshift.io/feature-set': 'Default,New' },
    {},
    /unknown: New/,
  ],
  [
    'a gate that is enabled',
    { [profile]: 'true', 'release.openshift.io/feature-gate': 'A' },
    { featureGates: new Set(['A']) },
    undefined,
  ],
  [
    'a gate that is not enabled',
    { [profile]: 'true', 'release.openshift.io/feature-gate': 'A, B' },
    { featureGates: new Set(['A']) },
    /with B/,
  ],
  [
    'a gate that must not be enabled',
    { [profile]: 'true', 'release.openshift.io/feature-gate': '-A' },
    { featureGates: new Set(['A']) },
    /without A/,
  ],
  ['a gate where none is known', { [profile]: 'true', 'release.openshift.io/feature-gate': 'A' }, {}, undefined],
  [
    'both a set and a gate',
    { [profile]: 'true', 'release.openshift.io/feature-gate': 'A', 'release.openshift.io/feature-set': 'Default' },
    { featureGates: new Set(['A']) },
    /both/,
  ],
  [
    'an enabled capability',
    { [profile]: 'true', 'capability.openshift.io/name': 'A+B' },
    { capabilities: { known: ['A', 'B'], enabled: ['A', 'B'] } },
    undefined,
  ],
  [
    'a disabled capability',
    { [profile]: 'true', 'capability.openshift.io/name': 'A+B' },
    { capabilities: { known: ['A', 'B'], enabled: ['A'] } },
    /capability B is not enabled/,
  ],
  [
    'an unknown capability',
    { [profile]: 'true', 'capability.openshift.io/name': 'C' },
    { capabilities: { known: ['A'], enabled: ['A'] } },
    /does not know the capability C/,
  ],
]
for (const [what, annotations, inclusion, why] of cases) {
  test(`a manifest for ${what} is ${why ? 'left out' : 'included'}`, () => {
    const said = whyExcluded(manifest(annotations), { ...usual, ...inclusion })
    if (why) assert.match(said ?? '', why)
    else assert.equal(said, undefined)
  })
}

test('a major version decides for schemas and feature gates, and may stand nowhere else', () => {
  const about = (versions: string, kind: string, apiVersion: string) =>
    whyExcluded(manifest({ [profile]: 'true', 'release.openshift.io/major-version': versions }, kind, apiVersion), {
      ...usual,
      majorVersion: 4,
    })
  const schema = (versions: string) => about(versions, 'CustomResourceDefinition', 'apiextensions.k8s.io/v1')
  assert.equal(schema('4'), undefined)
  assert.equal(schema('4,5'), undefined)
  assert.equal(schema('-5'), undefined)
  assert.match(schema('5') ?? '', /major version 5/)
  assert.match(schema('-4') ?? '', /major version -4/)
  assert.match(schema('4,-4') ?? '', /for and against/)
  assert.match(schema('four') ?? '', /no numbers/)
  assert.match(about('4', 'ConfigMap', 'v1') ?? '', /may not/)
})

test('the gates of a payload are those that it enables for the profile and the feature set', () => {
  const gates = (set: string, value: string, name: string) => `---
apiVersion: config.openshift.io/v1
kind: FeatureGate
metadata:
  name: cluster
  annotations:
    ${profile}: ${value}
    release.openshift.io/feature-set: ${set}
status:
  featureGates:
  - version: 4.18.9
    enabled: [{name: ${name}}]
    disabled: [{name: Other}]
`
  const value = 'false-except-for-the-config-operator'
  const { manifests } = parsed(
    gates('Default', value, 'A') + gates('OKD', value, 'B') + gates('Default', '"true"', 'C'),
  )
  assert.deepEqual([...enabledFeatureGates(manifests, usual)], ['A'])
  assert.deepEqual([...enabledFeatureGates(manifests, { ...usual, featureSet: 'OKD' })], ['B'])
})
