import { createLog } from '../src/host/log.ts'
import { createWebClient, type WebClient, type WebClientOptions } from '../src/remote/web-client.ts'
import { FakeClock } from './fake-clock.ts'
import type { Cleanup } from './temp-dir.ts'

export interface TestWebClient {
  readonly client: WebClient
  readonly clock: FakeClock
  /** Every line that was logged, at every level. */
  readonly lines: string[]
}

/** A client of the web whose waits cost nothing, and that knows no file of this machine. */
export function testWebClient(t: Cleanup, options: Partial<WebClientOptions> = {}): TestWebClient {
  const clock = new FakeClock({ isImpatient: true })
  const lines: string[] = []
  const client = createWebClient({
    clock,
    log: createLog('trace', (line) => lines.push(line)),
    tls: { certsDirs: [] },
    proxies: { noProxy: '' },
    random: () => 0.5,
    ...options,
  })
  t.after(() => client.close())
  return { client, clock, lines }
}
