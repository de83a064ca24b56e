import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCli } from '../../../testkit/run-cli.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { parseRegistriesConf } from '../../registries/parse.ts'

/** A folder with `isc.yaml` in it, where commands run. */
async function folderWith(t: TestContext, text: string): Promise<string> {
  const cwd = await tempDir(t)
  await writeFile(join(cwd, 'isc.yaml'), text)
  return cwd
}

const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v1alpha2\n'
const good = `${head}mirror:\n  additionalImages:\n  - name: quay.io/a/b:1\n`

test('config check tells everything about the files, a line each, and exits 78 where one would be refused', async (t) => {
  const cwd = await folderWith(t, good)
  const fine = await runCli(['config', 'check', 'isc.yaml'], { cwd })
  assert.deepEqual([fine.status, fine.stdout], [0, '1 file: no error\n'])
  await writeFile(join(cwd, 'other.yaml'), `${good}storageConfig: {}\n  operators:\n`)
  await writeFile(join(cwd, 'third.yaml'), `${good}  operatrs: []\n  samples: []\n`)
  const { status, stdout } = await runCli(['config', 'check', 'isc.yaml', 'other.yaml', 'third.yaml'], { cwd })
  assert.equal(status, 78)
  assert.match(stdout, /^other\.yaml:7:\d+: error: not YAML at "operators:"/m)
  assert.match(stdout, /^third\.yaml:6:3: error: .*did you mean "operators"\?$/m)
  assert.match(stdout, /^3 files: 2 errors, 0 warnings\n$/m)
  const json = await runCli(['config', 'check', 'third.yaml', '--json'], { cwd })
  const report = JSON.parse(json.stdout) as { findings: { id: string; where: object }[] }
  assert.deepEqual(report.findings[0]?.where, { file: 'third.yaml', line: 6, column: 3 })
  const none = await runCli(['config', 'check', 'none.yaml', 'third.yaml'], { cwd })
  assert.equal(none.status, 78)
  assert.match(none.stdout, /^none\.yaml:1:1: error: .*there is no such file\nthird\.yaml:6:3/)
})

test('config convert prints v2alpha1, or writes it, and tells the changes on standard error', async (t) => {
  const cwd = await folderWith(t, `${good}storageConfig:\n  local: {path: /m}\n`)
  const converted = good.replace('v1alpha2', 'v2alpha1')
  const printed = await runCli(['config', 'convert', 'isc.yaml'], { cwd })
  assert.deepEqual([printed.status, printed.stdout], [0, converted])
  assert.match(printed.stderr, /^isc\.yaml:2:13: apiVersion is now .*\nisc\.yaml:6:1: storageConfig is left out/)
  const written = await runCli(['config', 'convert', 'isc.yaml', '--output', 'isc.yaml'], { cwd })
  assert.deepEqual([written.status, written.stdout], [0, ''])
  assert.equal(await readFile(join(cwd, 'isc.yaml'), 'utf8'), converted)
  const again = await runCli(['config', 'convert', 'isc.yaml'], { cwd })
  assert.deepEqual([again.stdout, again.stderr], [converted, 'isc.yaml: already v2alpha1; nothing is changed\n'])
})

test('config schema prints JSON Schema for either kind', async (t) => {
  const cwd = await tempDir(t)
  for (const kind of ['ImageSetConfiguration', 'DeleteImageSetConfiguration']) {
    const { status, stdout } = await runCli(['config', 'schema', '--kind', kind], { cwd })
    assert.equal(status, 0)
    assert.equal((JSON.parse(stdout) as { title: string }).title, kind)
  }
  assert.equal((await runCli(['config', 'schema', '--kind', 'Deployment'], { cwd })).status, 64)
})

test('mirror refuses what it does not carry out with 78, at its place, before it asks any registry', async (t) => {
  const cwd = await folderWith(t, `${head}mirror:\n  additionalImages:\n  - name: oci:///srv/image\n`)
  const { status, stderr } = await runCli(['mirror', '-c', 'isc.yaml', 'docker://127.0.0.1:1/x'], { cwd })
  assert.equal(status, 78)
  assert.match(stderr, /^error CONFIG_INVALID: isc\.yaml:5:5: mirror\.additionalImages\[0\]\.name: .* not carried out/)
})

test('config registries prints what nodes get out of mirror sets and image configuration, or why they get nothing', async (t) => {
  const directory = await tempDir(t)
  const set = (policy: string) => `apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata: {name: release}
spec:
  imageDigestMirrors:
  - source: quay.io/openshift-release-dev/ocp-release
    mirrors: [mirror.lab:8443/ocp/release-images]
    mirrorSourcePolicy: ${policy}
`
  const image = `apiVersion: config.openshift.io/v1
kind: Image
metadata: {name: cluster}
spec:
  registrySources: {insecureRegistries: [mirror.lab:8443]}
`
  await writeFile(join(directory, 'idms.yaml'), set('NeverContactSource'))
  await writeFile(join(directory, 'image.yaml'), image)
  const { status, stdout, stderr } = await runCli(['config', 'registries', directory])
  assert.deepEqual([status, stderr], [0, ''])
  const { registries } = parseRegistriesConf(stdout, 'node.conf')
  assert.deepEqual(
    registries.map(({ prefix, blocked, mirrors }) => [prefix, blocked, mirrors]),
    [
      ['mirror.lab:8443', false, []],
      [
        'quay.io/openshift-release-dev/ocp-release',
        true,
        [{ location: 'mirror.lab:8443/ocp/release-images', insecure: true, pullFromMirror: 'digest-only' }],
      ],
    ],
  )
  const old = await runCli(['config', 'registries', join(directory, 'image.yaml'), '--nodes', '4.12'])
  assert.deepEqual([old.status, /pull-from-mirror/.test(old.stdout)], [0, false])
  await writeFile(join(directory, 'other.yaml'), set('AllowContactingSource'))
  const refused = await runCli(['config', 'registries', directory])
  assert.deepEqual([refused.status, refused.stdout], [1, ''])
  assert.match(refused.stderr, /conflicting mirrorSourcePolicy is set for the same source/)
})
