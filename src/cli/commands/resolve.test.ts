import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCli } from '../../../testkit/run-cli.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'

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
