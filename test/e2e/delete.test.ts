import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { verifyMirrored } from '../../src/flows/verify.ts'
import { readDone } from '../../src/mirror/done.ts'
import { workspaceAt } from '../../src/mirror/workspace.ts'
import { deleteSetText, runGenerate, runListed } from '../../testkit/delete-run.ts'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, releaseName, startUpstream } from '../../testkit/upstream.ts'

type Kind = 'embedded' | 'docker'

/** Two releases that share components, and images of every kind, mirrored to a target; the upstream is gone then. */
async function mirrored(t: TestContext, kind: Kind) {
  const upstream = await startUpstream(t)
  const newer = makeRelease({ version: '4.18.10', components: 7 })
  await pushAll(testClient(t).client, upstream.registry.address, releaseContent(newer))
  const target = kind === 'embedded' ? await startEmbeddedRegistry(t) : await startDockerRegistry(t)
  if (!target) return undefined
  const workspace = await tempDir(t)
  const at = { target: `docker://${target.address}/ocp`, workspace }
  const mirror = (config: string) => runMirror(t, { ...at, registriesConf: upstream.registriesConf, config })
  const older = imageSetText({ release: releaseName(upstream.release), additional: upstream.additional })
  const newest = imageSetText({ release: releaseName(newer) })
  for (const config of [older, newest]) assert.equal((await mirror(config)).exitStatus, 0)
  const tags = async (repository: string) =>
    (await testClient(t).client.tags({ registry: target.address, repository: `ocp/${repository}` })) ?? []
  const verify = async () => {
    const { client: registry } = testClient(t)
    const signal = new AbortController().signal
    return (
      await verifyMirrored(workspaceAt(workspace, '/'), `${target.address}/ocp`, { registry, signal, deep: true })
    ).report
  }
  return { upstream, newer, target, at, mirror, older, newest, tags, verify, workspace }
}

for (const kind of ['embedded', 'docker'] as const) {
  test(`a release goes from the ${kind} registry without its upstream, and everything else stays whole`, async (t) => {
    const site = await mirrored(t, kind)
    if (!site) return
    const { upstream, newer, at, verify, tags, target } = site
    await upstream.registry.close()
    const { release } = upstream
    const config = deleteSetText({ release: releaseName(release) })
    const generated = await runGenerate(t, { ...at, config })
    assert.deepEqual([generated.exitStatus, generated.failures], [0, []])
    const shared = release.components.filter(({ image }) =>
      newer.components.some((one) => one.image.digest === image.digest),
    )
    const fates = Map.groupBy(generated.fates, ({ fate }) => fate)
    assert.equal(generated.fates.length, release.components.length + 1)
    assert.equal(fates.get('untagged')?.length ?? 0, shared.length)
    assert.ok(shared.length > 0 && shared.length < release.components.length, `${shared.length} are shared`)
    assert.ok(generated.bytes > 0)
    assert.ok((await tags('openshift/release-images')).includes(release.tag), 'the first phase deletes nothing')

    const [list = ''] = generated.files
    const result = await runListed(t, { ...at, list })
    assert.deepEqual([result.exitStatus, result.failures], [0, []])
    assert.deepEqual(await tags('openshift/release-images'), [newer.tag])
    const left = (await tags('openshift/release')).filter((tag) => tag.startsWith(`${release.tag}-`))
    assert.equal(
      left.length,
      kind === 'docker' ? shared.length : 0,
      'only what the registry cannot untag is still named',
    )
    assert.equal(result.stuck.length, left.length)
    const report = await verify()
    assert.deepEqual(report.findings, [])
    const done = (await readDone(workspaceAt(at.workspace, '/'))).get(`${target.address}/ocp`) ?? []
    assert.ok(!done.some(({ destination }) => destination.includes(`:${release.tag}`)))

    const again = await runListed(t, { ...at, list })
    assert.deepEqual([again.exitStatus, again.manifests], [0, 0])
  })
}
