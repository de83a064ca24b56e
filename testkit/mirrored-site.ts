/** A site with a mirror to delete from: two releases that share components, and images of every kind. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { verifyMirrored } from '../src/flows/verify.ts'
import { type DoneImage, readDone } from '../src/mirror/done.ts'
import type { VerifyReport } from '../src/mirror/verify-mirror.ts'
import { workspaceAt } from '../src/mirror/workspace.ts'
import type { SampleRelease } from '../src/quickstart/sample-release.ts'
import { startDockerRegistry } from './docker-registry.ts'
import { startEmbeddedRegistry } from './embedded-registry.ts'
import { runMirror } from './mirror-run.ts'
import { makeRelease } from './release-payload.ts'
import { pushAll, releaseContent } from './seed.ts'
import { tempDir } from './temp-dir.ts'
import { testClient } from './test-client.ts'
import { imageSetText, releaseName, startUpstream, type Upstream } from './upstream.ts'

export interface MirroredSite {
  readonly upstream: Upstream
  /** The release that `upstream.release` shares seven of its twelve components with. */
  readonly newer: SampleRelease
  /** `127.0.0.1:PORT` */
  readonly address: string
  /** Directory of the store, or of docker-registry's files. */
  readonly root: string
  readonly at: { readonly target: string; readonly workspace: string }
  /** Mirrors again, and expects success. */
  mirror(config: string): Promise<void>
  /** Tags of a repository below the target. */
  tags(repository: string): Promise<readonly string[]>
  /** Reads and hashes every byte that the workspace says is there. */
  verify(): Promise<VerifyReport>
  done(): Promise<readonly DoneImage[]>
}

/** Undefined after the test was marked as skipped. */
export async function mirroredSite(t: TestContext, kind: 'embedded' | 'docker'): Promise<MirroredSite | undefined> {
  const upstream = await startUpstream(t)
  const newer = makeRelease({ version: '4.18.10', components: 7 })
  await pushAll(testClient(t).client, upstream.registry.address, releaseContent(newer))
  const place = await startTarget(t, kind)
  if (!place) return undefined
  const { address } = place
  const name = `${address}/ocp`
  const at = { target: `docker://${name}`, workspace: await tempDir(t) }
  const workspace = workspaceAt(at.workspace, '/')
  const site: MirroredSite = {
    ...place,
    upstream,
    newer,
    at,
    mirror: async (config) => {
      const { exitStatus } = await runMirror(t, { ...at, registriesConf: upstream.registriesConf, config })
      assert.equal(exitStatus, 0)
    },
    tags: async (repository) =>
      (await testClient(t).client.tags({ registry: address, repository: `ocp/${repository}` })) ?? [],
    verify: async () => {
      const options = { registry: testClient(t).client, signal: new AbortController().signal, deep: true }
      return (await verifyMirrored(workspace, name, options)).report
    },
    done: async () => (await readDone(workspace)).get(name) ?? [],
  }
  await site.mirror(imageSetText({ release: releaseName(upstream.release), additional: upstream.additional }))
  await site.mirror(imageSetText({ release: releaseName(newer) }))
  return site
}

async function startTarget(t: TestContext, kind: 'embedded' | 'docker') {
  if (kind === 'docker') return startDockerRegistry(t)
  const root = await tempDir(t)
  const { address } = await startEmbeddedRegistry(t, { root })
  return { address, root }
}
