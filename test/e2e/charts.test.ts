/** Helm charts: rendered, their images and themselves mirrored, across the gap, and given back by helm. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { makeChart, podTemplate, serveCharts } from '../../testkit/chart.ts'
import { makeImage } from '../../testkit/image.ts'
import { peer } from '../../testkit/peers.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'

function succeeded(result: CliResult): CliResult {
  assert.equal(result.status, 0, result.stderr + result.stdout)
  return result
}

/** A repository with the chart `pod`, a local chart, and the images of both at a registry that calls itself quay.io. */
async function scene(t: TestContext, helm: string | undefined) {
  const upstream = await startScriptedRegistry(t)
  const target = await startScriptedRegistry(t)
  const web = await startScriptedWeb(t)
  const root = await tempDir(t)
  const names = ['default', 'chosen', 'local'] as const
  const images = names.map((name) => ({ repository: `team/${name}`, images: [makeImage({ seed: name, tag: '1' })] }))
  await pushAll(testClient(t).client, upstream.address, images)
  const files = { 'values.yaml': 'image: quay.io/team/default:1\n', 'templates/pod.yaml': podTemplate }
  const url = serveCharts(web, [{ name: 'pod', version: '1.2.0+build', files }])
  const local = { 'values.yaml': 'image: quay.io/team/local:1\n', 'templates/pod.yaml': podTemplate }
  await writeFile(join(root, 'local.tgz'), makeChart({ name: 'mine', version: '0.1.0', files: local }))
  await writeFile(join(root, 'values.yaml'), 'image: quay.io/team/chosen:1\n')
  const conf = join(root, 'registries.conf')
  await writeFile(conf, `[[registry]]\nprefix = "quay.io"\nlocation = "${upstream.address}"\ninsecure = true\n`)
  const config = join(root, 'isc.yaml')
  const charts = {
    repositories: [{ name: 'lab', url, charts: [{ name: 'pod', version: '1.2.0+build', values: ['values.yaml'] }] }],
    local: [{ name: 'mine', path: 'local.tgz' }],
  }
  const head = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
  await writeFile(config, JSON.stringify({ ...head, mirror: { helm: charts } }))
  const path = helm === undefined ? '/usr/bin:/bin' : `${dirname(helm)}:/usr/bin:/bin`
  const run = (...args: readonly string[]) =>
    runCli([...args, '--registries-conf', conf, '--dest-tls-verify=false', '--retry-times', '0'], {
      cwd: root,
      env: { PATH: path },
    })
  return { upstream, target, web, root, config, run, destination: `docker://${target.address}/ocp` }
}

const expected = [
  'ocp/charts/mine:0.1.0',
  'ocp/charts/pod:1.2.0_build',
  'ocp/team/chosen:1',
  'ocp/team/default:1',
  'ocp/team/local:1',
]

test('charts of a repository and of this machine: images of every rendering, and the charts, which helm pulls', async (t) => {
  const helm = peer(t, 'helm')
  if (helm === undefined) return
  const { target, root, config, run, destination } = await scene(t, helm)
  const work = ['--workspace', join(root, 'work')]
  succeeded(await run('mirror', '-c', config, ...work, destination))
  assert.deepEqual([...target.content.tags.keys()].sort(), expected)
  succeeded(await run('verify', 'mirror', ...work, '--deep', destination))
  const chart = `oci://${target.address}/ocp/charts/pod`
  await promisify(execFile)(helm, ['pull', chart, '--version', '1.2.0+build', '--plain-http'], {
    cwd: root,
    env: { PATH: '/usr/bin:/bin', HOME: root },
  })
  const again = succeeded(await run('mirror', '-c', config, ...work, destination))
  assert.match(again.stdout, /nothing to move/)
})

test('across the gap no repository is asked, and helm is not needed', async (t) => {
  const helm = peer(t, 'helm')
  if (helm === undefined) return
  const { upstream, web, target, root, config, run, destination } = await scene(t, helm)
  const disk = join(root, 'disk')
  succeeded(await run('mirror', '-c', config, `file://${disk}`))
  await Promise.all([upstream.close(), web.close()])
  const load = ['mirror', '--from', disk, '--workspace', join(root, 'closed'), '--dest-tls-verify=false', destination]
  succeeded(await runCli(load, { cwd: root, env: { PATH: '/nowhere' } }))
  assert.deepEqual([...target.content.tags.keys()].sort(), expected)
})

test('without helm each chart fails with where to get it, and counts as its class', async (t) => {
  const { target, root, config, run, destination } = await scene(t, undefined)
  const result = await run('mirror', '-c', config, '--workspace', join(root, 'work'), destination)
  assert.equal(result.status, 16)
  assert.match(result.stdout, /HELM_ABSENT/)
  assert.ok(![...target.content.tags.keys()].some((name) => name.startsWith('ocp/team/')))
})
