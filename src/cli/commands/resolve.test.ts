import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCli } from '../../../testkit/run-cli.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { encodeDataUrl } from '../../ignition/data-url.ts'

const configuration = `
[[registry]]
location = "quay.io/openshift-release-dev"
blocked = true
[[registry.mirror]]
location = "mirror.lab:8443/ocp"
pull-from-mirror = "digest-only"
[[registry]]
location = "reg.lab"
[[registry.mirror]]
location = "mirror.lab:8443/reg"
`
const byTag = 'quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64'
const byDigest = `quay.io/openshift-release-dev/ocp-release@sha256:${'5'.repeat(64)}`

/** Runs `sallyport resolve` on `configuration`, without the drop-ins of this machine. */
async function resolve(t: TestContext, ...args: string[]) {
  const dir = await tempDir(t)
  const file = join(dir, 'r.conf')
  await writeFile(file, configuration)
  const result = await runCli(['resolve', '--registries-conf', file, '--registries-conf-dir', dir, ...args])
  return { ...result, file }
}

test('resolve tells the endpoints in order, and exits 0 while one is left', async (t) => {
  const { status, stdout, stderr, file } = await resolve(t, byDigest)
  assert.equal(status, 0, stderr)
  assert.deepEqual(stdout.split('\n').slice(0, 5), [
    byDigest,
    `   1  try      ${byDigest.replace('quay.io/openshift-release-dev', 'mirror.lab:8443/ocp')}`,
    '               mirror 1 of 1 for quay.io/openshift-release-dev',
    `   2  blocked  ${byDigest}`,
    `               the source itself, after its mirrors; registry quay.io/openshift-release-dev is blocked in ${file}`,
  ])
})

test('resolve exits 1 where an image has no endpoint left or cannot be rewritten, and still tells the others', async (t) => {
  const { status, stdout } = await resolve(t, '--json', byTag, 'reg.lab:5000/x:1', byDigest)
  assert.equal(status, 1)
  const { images } = JSON.parse(stdout)
  assert.deepEqual(
    images.map(({ usable }: { usable: boolean }) => usable),
    [false, false, true],
  )
  assert.equal(images[0].endpoints[0].blockedBy, 'quay.io/openshift-release-dev')
  assert.equal(images[0].skipped[0].location, 'mirror.lab:8443/ocp')
  assert.equal(images[1].error.code, 'REFERENCE_REWRITE_INVALID')
  assert.equal(
    images[2].endpoints[0].reference,
    byDigest.replace('quay.io/openshift-release-dev', 'mirror.lab:8443/ocp'),
  )
})

test('resolve exits 64 for no reference, 78 for a registries.conf that does not load', async (t) => {
  assert.equal((await resolve(t, 'quay.io/UPPER:1')).status, 64)
  const dir = await tempDir(t)
  await writeFile(join(dir, 'drop-in.conf'), '[[registry]]\nlocation = "https://quay.io"')
  const { status, stderr } = await resolve(t, '--registries-conf-dir', dir, 'quay.io/x')
  assert.equal(status, 78)
  assert.match(stderr, /drop-in\.conf: invalid location 'https:\/\/quay\.io': URI schemes are not supported/)
})

/** A bootstrap.ign whose host has a mirror by digest, and whose nodes get this mirror set. */
function bootstrapText(mirrorSet: string): string {
  const file = (path: string, text: string) => ({ path, contents: { source: encodeDataUrl(text) } })
  const files = [
    file('/usr/local/bin/bootkube.sh', '#!/bin/bash\n'),
    file('/usr/local/bin/bootstrap-service-record.sh', '#!/bin/bash\n'),
    file(
      '/etc/containers/registries.conf',
      '[[registry]]\nlocation = "quay.io/ocp"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "mirror.lab/ocp"\n',
    ),
    file('/opt/openshift/manifests/mirrors.yaml', mirrorSet),
  ]
  return JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files } })
}

function mirrorSet(source: string): string {
  return `kind: ImageTagMirrorSet\nmetadata: {name: m}\nspec: {imageTagMirrors: [{source: "${source}", mirrors: [mirror.lab/tags]}]}\n`
}

async function resolveFor(t: TestContext, set: string, ...args: string[]) {
  const dir = await tempDir(t)
  await writeFile(join(dir, 'b.ign'), bootstrapText(set))
  return runCli(['resolve', '--bootstrap', 'b.ign', ...args], { cwd: dir })
}

test('resolve --bootstrap tells what the bootstrap host tries, and what the nodes will', async (t) => {
  const { status, stdout, stderr } = await resolveFor(t, mirrorSet('quay.io/ocp'), 'quay.io/ocp/a:1', 'docker.io/x/y:1')
  assert.equal(status, 0, stderr)
  assert.match(
    stdout,
    /^quay\.io\/ocp\/a:1\n {2}bootstrap host\n {3}1 {2}try {6}quay\.io\/ocp\/a:1\n(?:.*\n)*? {2}nodes\n {3}1 {2}try {6}mirror\.lab\/tags\/a:1\n/,
  )
  assert.match(stdout, /^docker\.io\/x\/y:1\n {2}bootstrap host and nodes\n/m)
  assert.match(
    stdout,
    /^read b\.ign: \/etc\/containers\/registries\.conf for the bootstrap host, \/opt\/openshift\/manifests\/mirrors\.yaml for the nodes$/m,
  )
  const { images } = JSON.parse((await resolveFor(t, mirrorSet('quay.io/ocp'), '--json', 'quay.io/ocp/a:1')).stdout)
  assert.deepEqual(
    ['bootstrap', 'nodes'].map((side) => images[0][side].endpoints.length),
    [1, 2],
  )
})

test('resolve --bootstrap exits 1 where the nodes get nothing, and 64 beside another registries.conf', async (t) => {
  const { status, stdout } = await resolveFor(t, mirrorSet('https://quay.io'), 'quay.io/ocp/a:1')
  assert.equal(status, 1)
  assert.match(stdout, /nodes\n {2}none: the machine config operator refuses the manifests\n/)
  assert.match(stdout, /^error registries\.refused-by-operator: .*invalid format for source/m)
  assert.equal((await resolveFor(t, mirrorSet('quay.io'), '--registries-conf', 'x', 'quay.io/x')).status, 64)
})
