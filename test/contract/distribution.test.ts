import { after, before } from 'node:test'
import type { RunningRegistry } from '../../src/registry/server.ts'
import { type DockerRegistry, startDockerRegistry } from '../../testkit/docker-registry.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { distributionContract } from './distribution.ts'

const cleanups: (() => unknown)[] = []
const cleanup = { after: (action: () => unknown) => void cleanups.unshift(action), skip: () => undefined }
const running: { ours?: RunningRegistry; theirs?: DockerRegistry | undefined } = {}

before(async () => {
  running.ours = await testRegistry(cleanup)
  running.theirs = await startDockerRegistry(cleanup)
})

after(async () => {
  for (const action of cleanups) await action()
})

distributionContract('the embedded registry', () => running.ours?.url)

// The same promises held by another implementation show that the suite asks what the specification says.
distributionContract('docker-registry', () => running.theirs && `http://${running.theirs.address}`, {
  noSinglePost: true,
  noChunkOrder: true,
  noReferrers: true,
  noRangeChecks: true,
  noTagOrder: true,
  noTagPages: true,
  noTagDeletion: true,
  noUntaggedRepositories: true,
  noAnonymousMount: true,
})
