/** The options that say how to talk to what is outside: registries, update services, web servers. */
import type { Command } from 'commander'
import type { RetryPolicy } from '../remote/retry.ts'
import { readBoolean, readCount, readDurationMs } from './flag-values.ts'

export interface ConnectionOptions {
  ca?: string[]
  /** Absent: true. */
  srcTlsVerify?: boolean
  /** For the side of which nothing is said. */
  tlsVerify?: boolean
  retryTimes?: number
  /** Milliseconds; 0 for a wait that doubles. */
  retryDelay?: number
}

export function addSourceOptions(command: Command): Command {
  return command
    .option('--ca <file...>', 'CA certificates to trust besides those of the machine and of certs.d')
    .option('--src-tls-verify [yes]', 'verify the certificates of sources (default: true)', readBoolean)
}

export function addRetryOptions(command: Command): Command {
  return command
    .option('--retry-times <count>', 'how often a request that failed is made again (default: 5)', readCount(0))
    .option(
      '--retry-delay <duration>',
      'wait before that: 10s, 1m; 0 for one that doubles (default: 0)',
      readDurationMs,
    )
}

export function retriesOf({ retryTimes, retryDelay }: ConnectionOptions): Partial<RetryPolicy> {
  return {
    ...(retryTimes !== undefined && { attempts: retryTimes + 1, connectAttempts: retryTimes + 1 }),
    ...(retryDelay !== undefined && retryDelay > 0 && { constantDelayMs: retryDelay }),
  }
}
