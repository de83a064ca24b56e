/** What the makers of sample images produce is accepted by the tools of others. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { makeAttestation, makeImage, makeIndex, makeSignature } from '../../testkit/image.ts'
import { peer } from '../../testkit/peers.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { type RepositoryContent, releaseContent, writeToDockerRegistryRoot } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const run = promisify(execFile)

/** The address of a docker-registry whose files were written, not pushed; undefined where the peer is missing. */
async function serve(t: TestContext, content: readonly RepositoryContent[]): Promise<string | undefined> {
  const registry = await startDockerRegistry(t)
  if (registry) await writeToDockerRegistryRoot(join(registry.root, 'data'), content)
  return registry?.address
}

test('docker-registry serves a release that was written into its directory, and skopeo copies it whole', async (t) => {
  const skopeo = peer(t, 'skopeo')
  const release = makeRelease({ components: 3 })
  const address = await serve(t, releaseContent(release))
  if (skopeo === undefined || address === undefined) return
  const target = await tempDir(t)
  const sources = [
    `openshift-release-dev/ocp-release:4.18.9-x86_64`,
    ...release.components.map(({ image }) => `openshift-release-dev/ocp-v4.0-art-dev@${image.digest}`),
  ]
  for (const [index, source] of sources.entries()) {
    const to = join(target, String(index))
    await mkdir(to)
    await run(skopeo, ['copy', '--src-tls-verify=false', `docker://${address}/${source}`, `dir:${to}`])
  }
})

test('skopeo copies an index with an attestation, and a signature beside it', async (t) => {
  const skopeo = peer(t, 'skopeo')
  const children = ['amd64', 'arm64'].map((architecture) =>
    makeImage({ seed: architecture, platform: { os: 'linux', architecture } }),
  )
  const attestations = children.map(makeAttestation)
  const index = makeIndex({ children: [...children, ...attestations], tag: 'v1' })
  const signature = makeSignature(index)
  const address = await serve(t, [{ repository: 'app/web', images: [index, signature] }])
  if (skopeo === undefined || address === undefined) return
  const target = await tempDir(t)
  await run(skopeo, [
    'copy',
    '--all',
    '--src-tls-verify=false',
    `docker://${address}/app/web:v1`,
    `dir:${join(target, 'a')}`,
  ])
  const { stdout } = await run(skopeo, ['list-tags', '--tls-verify=false', `docker://${address}/app/web`])
  const { Tags: tags } = JSON.parse(stdout) as { Tags: string[] }
  assert.deepEqual(tags.sort(), [`sha256-${index.digest.slice(7)}.sig`, 'v1'])
})
