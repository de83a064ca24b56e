import { systemClock } from '../src/host/clock.ts'
import { createLog } from '../src/host/log.ts'
import { type RegistryOptions, type RunningRegistry, startRegistry } from '../src/registry/server.ts'
import { pushAll, type RepositoryContent } from './seed.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'
import { testClient } from './test-client.ts'

/** Our own registry in this process, on a free port, with an empty store unless `options` names one. */
export async function startEmbeddedRegistry(
  t: Cleanup,
  options: Partial<RegistryOptions> = {},
): Promise<RunningRegistry> {
  const root = options.root ?? (await tempDir(t))
  const log = createLog('error', () => undefined)
  const registry = await startRegistry({ log, clock: systemClock, ...options, root })
  t.after(() => registry.close(0))
  return registry
}

/** Fills the store of a registry that does not run. */
export async function seedRegistry(
  t: Cleanup,
  { root, content }: { readonly root: string; readonly content: readonly RepositoryContent[] },
): Promise<void> {
  const registry = await startEmbeddedRegistry(t, { root })
  await pushAll(testClient(t).client, registry.address, content)
  await registry.close(0)
}
