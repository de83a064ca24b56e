/** What every client is built on: connections, and the rules for repeating what failed. */
import type { LookupFunction } from 'node:net'
import type { Clock } from '../host/clock.ts'
import type { Log } from '../host/log.ts'
import { collectYoungGarbageEvery } from '../host/memory.ts'
import { randomFraction } from '../host/random.ts'
import type { ProxySettings } from './proxy.ts'
import { defaultRetryPolicy, type RetryContext, type RetryPolicy } from './retry.ts'
import { type TlsOptions, TlsSettings } from './tls-settings.ts'
import { Transport } from './transport.ts'

/** Times in milliseconds. */
export interface TransportLimits {
  readonly connectTimeoutMs?: number
  /** No byte in either direction for this long breaks a transfer, which then goes on. There is no limit on the whole. */
  readonly idleTimeoutMs?: number
  readonly retries?: Partial<RetryPolicy>
}

export interface ConnectionSettings {
  readonly clock: Clock
  readonly log: Log
  readonly tls: TlsOptions
  readonly proxies: ProxySettings
  readonly limits?: TransportLimits
  /** Where names are looked up. Default: as the machine does it. */
  readonly lookup?: LookupFunction
  /** In [0, 1): the jitter of waits. */
  readonly random?: () => number
}

/** Nothing is connected before the first request. */
export function openTransport(settings: ConnectionSettings): { transport: Transport; retries: RetryContext } {
  const { clock, log, tls, proxies, limits = {}, random = randomFraction, lookup } = settings
  const transport = new Transport({
    clock,
    tls: new TlsSettings(tls),
    proxies,
    ...(lookup !== undefined && { lookup }),
    connectTimeoutMs: limits.connectTimeoutMs ?? 30_000,
    idleTimeoutMs: limits.idleTimeoutMs ?? 60_000,
    onReceived: collectYoungGarbageEvery(16 * 1024 * 1024),
  })
  return { transport, retries: { clock, log, random, policy: { ...defaultRetryPolicy, ...limits.retries } } }
}
