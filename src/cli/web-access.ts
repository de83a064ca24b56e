/** What reads from the web, with the CAs, proxies and retries of the registries. */
import { proxiesFromEnv } from '../remote/proxy.ts'
import { createWebClient, type WebClient } from '../remote/web-client.ts'
import { type ConnectionOptions, retriesOf } from './connection-options.ts'
import type { CliContext } from './context.ts'
import { type SideOptions, sideAccess } from './side-access.ts'

/** @throws KnownError USAGE where flags contradict each other */
export async function openWeb(options: ConnectionOptions & SideOptions, context: CliContext): Promise<WebClient> {
  const { env, clock, log } = context
  return createWebClient({
    clock,
    log,
    tls: sideAccess('src', options, context).tls,
    proxies: proxiesFromEnv(env),
    isInsecure: !(options.srcTlsVerify ?? options.tlsVerify ?? true),
    limits: { retries: retriesOf(options) },
  })
}
