import { systemClock } from '../src/host/clock.ts'
import { silentLog } from '../src/host/log.ts'
import { type RegistryOptions, type RunningRegistry, startRegistry } from '../src/registry/server.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

/** The embedded registry on a free loopback port, closed when `t` ends. */
export async function testRegistry(t: Cleanup, options: Partial<RegistryOptions> = {}): Promise<RunningRegistry> {
  const root = options.root ?? (await tempDir(t))
  const registry = await startRegistry({ clock: systemClock, log: silentLog, ...options, root })
  t.after(() => registry.close(0))
  return registry
}
