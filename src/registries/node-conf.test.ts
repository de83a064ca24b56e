import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { formatReference, parseReference } from '../oci/reference.ts'
import { type ClusterRegistries, type MirrorSet, nodeRegistriesConf } from './node-conf.ts'
import { parseRegistriesConf } from './parse.ts'
import type { RegistriesConf } from './registries-conf.ts'
import { renderRegistriesConf } from './render.ts'
import { resolveEndpoints } from './resolve.ts'

const release = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev'
const digest = `sha256:${'5'.repeat(64)}`

/** Each entry as `prefix [blocked] [insecure] = mirrors`, a mirror as `use location`. */
function outline({ registries }: RegistriesConf): readonly string[] {
  return registries.map(({ prefix, blocked, insecure, mirrors }) => {
    const flags = `${blocked ? ' blocked' : ''}${insecure ? ' insecure' : ''}`
    const places = mirrors.map((mirror) => {
      return `${mirror.pullFromMirror} ${mirror.location}${mirror.insecure ? ' insecure' : ''}`
    })
    return `${prefix}${flags} = ${places.join(', ')}`
  })
}

test('a node gets the file that the machine config operator renders', () => {
  const conf = nodeRegistriesConf({
    idms: [{ source: release, mirrors: ['mirror.lab:8443/ocp4/openshift4'], mirrorSourcePolicy: 'NeverContactSource' }],
  })
  assert.equal(
    renderRegistriesConf(conf),
    `unqualified-search-registries = ["registry.access.redhat.com", "docker.io"]
short-name-mode = ""

[[registry]]
  prefix = ""
  location = "quay.io/openshift-release-dev/ocp-v4.0-art-dev"
  blocked = true

  [[registry.mirror]]
    location = "mirror.lab:8443/ocp4/openshift4"
    pull-from-mirror = "digest-only"
`,
  )
})

test('digest mirrors come before tag mirrors, and serve only their kind of reference', () => {
  const conf = nodeRegistriesConf({
    itms: [{ source: 'quay.io/x', mirrors: ['tags.lab/x'] }],
    idms: [{ source: 'quay.io/x', mirrors: ['digests.lab/x'] }],
    icsp: [{ source: 'quay.io/x', mirrors: ['old.lab/x'], mirrorSourcePolicy: 'NeverContactSource' }],
  })
  assert.deepEqual(outline(conf), ['quay.io/x = digest-only digests.lab/x, digest-only old.lab/x, tag-only tags.lab/x'])
  const tried = (text: string) =>
    resolveEndpoints(conf, parseReference(text)).endpoints.map(({ reference }) => formatReference(reference))
  assert.deepEqual(tried('quay.io/x/y:1'), ['tags.lab/x/y:1', 'quay.io/x/y:1'])
  assert.deepEqual(tried(`quay.io/x/y:1@${digest}`), [
    `digests.lab/x/y@${digest}`,
    `old.lab/x/y@${digest}`,
    `quay.io/x/y@${digest}`,
  ])
})

const mergeCases: readonly { name: string; sets: readonly MirrorSet[]; expected: readonly string[] }[] = [
  {
    name: 'sets that share a mirror keep the order of each',
    sets: [
      { source: 's.b', mirrors: ['y.b', 'x.b'] },
      { source: 's.b', mirrors: ['z.b', 'y.b'] },
    ],
    expected: ['s.b = digest-only z.b, digest-only y.b, digest-only x.b'],
  },
  {
    name: 'sets that say nothing of each other are put in the order of their names',
    sets: [
      { source: 's.b', mirrors: ['vendor.b'] },
      { source: 's.b', mirrors: ['local.b'] },
    ],
    expected: ['s.b = digest-only local.b, digest-only vendor.b'],
  },
  {
    name: 'a contradiction is broken at the name that sorts first',
    sets: [
      { source: 's.b', mirrors: ['r1.b', 'r2.b'] },
      { source: 's.b', mirrors: ['local.b', 'r2.b', 'r1.b'] },
    ],
    expected: ['s.b = digest-only local.b, digest-only r1.b, digest-only r2.b'],
  },
  {
    name: 'a source among its mirrors stays where it stands, unless it is last',
    sets: [
      { source: 's.b', mirrors: ['z.b', 's.b', 'y.b'] },
      { source: 't.b', mirrors: ['z.b', 't.b'] },
    ],
    expected: ['s.b = digest-only z.b, digest-only s.b, digest-only y.b', 't.b = digest-only z.b'],
  },
  {
    name: 'a set without a real mirror counts for nothing, and its policy with it',
    sets: [
      { source: 's.b', mirrors: [], mirrorSourcePolicy: 'NeverContactSource' },
      { source: 't.b', mirrors: ['t.b', 't.b'] },
    ],
    expected: [],
  },
]

for (const { name, sets, expected } of mergeCases) {
  test(name, () => assert.deepEqual(outline(nodeRegistriesConf({ idms: sets })), expected))
}

test('what holds for a scope is written to every entry and mirror within it', () => {
  const conf = nodeRegistriesConf({
    insecureRegistries: ['insecure.b', '*.wild.b'],
    blockedRegistries: ['blocked.b', '*.deep.wild.b'],
    idms: [
      { source: 'insecure.b/ns', mirrors: ['blocked.b/m', 'x.wild.b:5000/m'] },
      { source: 'blocked.b/ns', mirrors: ['insecure.b/m'] },
      { source: 'insecure.b:5000/ns', mirrors: ['m.b'] },
    ],
  })
  assert.deepEqual(outline(conf), [
    '*.deep.wild.b blocked insecure = ',
    '*.wild.b insecure = ',
    'blocked.b blocked = ',
    'blocked.b/ns blocked = digest-only insecure.b/m insecure',
    'insecure.b insecure = ',
    'insecure.b/ns insecure = digest-only blocked.b/m, digest-only x.wild.b:5000/m insecure',
    'insecure.b:5000/ns = digest-only m.b',
  ])
})

test('an entry that is only blocked or insecure does not hide the mirrors of the scope around it', () => {
  const conf = nodeRegistriesConf({
    insecureRegistries: ['p.b/top/insecure'],
    blockedRegistries: ['p.b/top/blocked'],
    idms: [
      { source: 'p.b/top', mirrors: ['m.b/top'] },
      { source: 'p.b/top/insecure/own', mirrors: ['m.b/own'] },
    ],
    itms: [{ source: 'p.b/top', mirrors: ['t.b/top'] }],
  })
  assert.deepEqual(outline(conf), [
    'p.b/top = digest-only m.b/top, tag-only t.b/top',
    'p.b/top/blocked blocked = digest-only m.b/top/blocked, tag-only t.b/top/blocked',
    'p.b/top/insecure insecure = digest-only m.b/top/insecure, tag-only t.b/top/insecure',
    'p.b/top/insecure/own insecure = digest-only m.b/own',
  ])
})

const releaseImage = parseReference(`quay.io/openshift-release-dev/ocp-release@${digest}`)
const refusedClusters: readonly (readonly [cluster: ClusterRegistries, message: string])[] = [
  [{ idms: [{ source: 'https://quay.io', mirrors: ['m.b'] }] }, 'invalid format for source "https://quay.io"'],
  [{ itms: [{ source: 'quay.io', mirrors: ['*.m.b'] }] }, 'invalid format for mirror "*.m.b"'],
  [
    {
      idms: [{ source: 'quay.io', mirrors: ['m.b'], mirrorSourcePolicy: 'NeverContactSource' }],
      icsp: [{ source: 'quay.io', mirrors: ['m.b'] }],
    },
    'conflicting mirrorSourcePolicy is set for the same source "quay.io" in imagedigestmirrorsets, imagetagmirrorsets, or imagecontentsourcepolicies',
  ],
  [
    { itms: [{ source: 'quay.io', mirrors: ['quay.io', 'm.b'], mirrorSourcePolicy: 'NeverContactSource' }] },
    'cannot set mirrorSourcePolicy: NeverContactSource if the source "quay.io" is one of the mirrors',
  ],
  [{ insecureRegistries: ['a.*.b'] }, 'invalid entry for insecure registries "a.*.b"'],
  [{ blockedRegistries: ['*.b/ns'] }, 'invalid entry for blocked registries "*.b/ns"'],
  [{ allowedRegistries: [''] }, 'invalid entry for allowed registries ""'],
  [
    { allowedRegistries: ['a.b'], blockedRegistries: ['c.b'] },
    'invalid images config: only one of AllowedRegistries or BlockedRegistries may be specified',
  ],
  [
    { idms: [{ source: '*.b', mirrors: ['m.c/x'] }], blockedRegistries: ['a.b'] },
    'internal error: mirrorsAdjustedForNestedScope for a wildcard scope "*.b"',
  ],
  [
    { releaseImage, blockedRegistries: ['quay.io'], itms: [{ source: 'quay.io', mirrors: ['m.b'] }] },
    'error adding ["quay.io"] to blocked registries, cannot block the repository being used by the payload',
  ],
]

for (const [cluster, message] of refusedClusters) {
  test(`refused as the operator refuses it: ${message}`, () => {
    assert.throws(() => nodeRegistriesConf(cluster), { code: 'MIRROR_SET_INVALID', message })
  })
}

test('the registry of the release may be blocked where a digest mirror is left', () => {
  const conf = nodeRegistriesConf({
    releaseImage,
    blockedRegistries: ['quay.io'],
    idms: [{ source: 'quay.io/openshift-release-dev', mirrors: ['m.b/ocp'] }],
  })
  assert.equal(resolveEndpoints(conf, releaseImage).endpoints.at(0)?.blockedBy, undefined)
})

const resources = '../shared/data/cluster-resources'

test('real mirror sets become a file that podman would read; only unfilled templates are refused', (t) => {
  if (!existsSync(resources)) return t.skip(`${resources} is not here`)
  let refused = 0
  let count = 0
  for (const name of readdirSync(resources).filter((file) => /\.yaml$/.test(file))) {
    const cluster = mirrorSetsOf(readFileSync(join(resources, name), 'utf8'))
    if (Object.keys(cluster).length === 0) continue
    count += 1
    try {
      const text = renderRegistriesConf(nodeRegistriesConf(cluster))
      assert.ok(parseRegistriesConf(text, name).registries.length > 0, name)
    } catch (error) {
      assert.equal(error instanceof Error && 'code' in error && error.code, 'MIRROR_SET_INVALID', `${name}: ${error}`)
      assert.match(error instanceof Error ? error.message : '', /^invalid format for (source|mirror) ".*[<$].*"$/, name)
      refused += 1
    }
  }
  assert.ok(count >= 10, `${count} files`)
  t.diagnostic(`${count} files, ${refused} refused`)
})

const listOfKind: Readonly<Record<string, readonly [name: keyof ClusterRegistries, list: string]>> = {
  ImageDigestMirrorSet: ['idms', 'imageDigestMirrors'],
  ImageTagMirrorSet: ['itms', 'imageTagMirrors'],
  ImageContentSourcePolicy: ['icsp', 'repositoryDigestMirrors'],
}

function mirrorSetsOf(text: string): ClusterRegistries {
  const cluster: Record<string, MirrorSet[]> = {}
  for (const document of parseAllDocuments(text)) {
    const resource: unknown = 'errors' in document && document.errors.length === 0 ? document.toJS() : undefined
    const { kind = '', spec } = (resource ?? {}) as { kind?: string; spec?: Record<string, MirrorSet[]> }
    const [name, list] = listOfKind[kind] ?? []
    const sets = list === undefined ? undefined : spec?.[list]
    if (name !== undefined && Array.isArray(sets)) cluster[name] = [...(cluster[name] ?? []), ...sets]
  }
  return cluster
}
