import { createLog, type Log } from '../src/host/log.ts'
import { createRegistryClient, type RegistryClient, type RegistryClientOptions } from '../src/remote/client.ts'
import { noCredentials } from '../src/remote/credentials.ts'
import { FakeClock } from './fake-clock.ts'
import type { Cleanup } from './temp-dir.ts'

export interface TestClient {
  readonly client: RegistryClient
  readonly clock: FakeClock
  /** Every line that was logged, at every level. */
  readonly lines: string[]
}

/**
 * A client whose waits cost nothing, that knows no file of this machine, and that talks plain HTTP to whom it is told to.
 */
export function testClient(t: Cleanup, options: Partial<RegistryClientOptions> = {}): TestClient {
  const clock = new FakeClock({ isImpatient: true })
  const lines: string[] = []
  const log: Log = createLog('trace', (line) => lines.push(line))
  const client = createRegistryClient({
    clock,
    log,
    credentials: noCredentials,
    tls: { certsDirs: [] },
    proxies: { noProxy: '' },
    isInsecure: () => true,
    random: () => 0.5,
    ...options,
  })
  t.after(() => client.close())
  return { client, clock, lines }
}
