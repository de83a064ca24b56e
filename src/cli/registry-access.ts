/** The options by which every command that talks to registries is told how, and what is built from them. */
import type { Command } from 'commander'
import { loadRegistriesConf } from '../config/registries-conf.ts'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import { credentialsFromFiles } from '../remote/auth-file.ts'
import { createRegistryClient, type RegistryClient } from '../remote/client.ts'
import { proxiesFromEnv } from '../remote/proxy.ts'
import { withRegistriesConf } from '../remote/registries-conf-source.ts'
import { tlsOptionsFromEnv } from '../remote/tls-settings.ts'
import type { CliContext } from './context.ts'

export interface AccessOptions {
  authfile?: string
  registriesConf?: string
  ca?: string[]
  srcTlsVerify?: boolean
  destTlsVerify?: boolean
}

export function addAccessOptions(command: Command): Command {
  return command
    .option('--authfile <file>', 'credentials, as podman login writes them (also REGISTRY_AUTH_FILE)')
    .option('--registries-conf <file>', 'registries.conf for reading (also CONTAINERS_REGISTRIES_CONF)')
    .option('--ca <file...>', 'CA certificates to trust besides those of the machine and of certs.d')
    .option('--src-tls-verify [yes]', 'verify the certificates of sources', readBoolean, true)
    .option(
      '--dest-tls-verify [yes]',
      'verify the certificate of the destination; =false also allows plain HTTP',
      readBoolean,
      true,
    )
}

function readBoolean(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new KnownError('USAGE', `"${text}" is neither true nor false`)
}

export interface Registries {
  /** Reads through registries.conf. */
  readonly source: ContentSource
  /** Talks to registries by the names they are given. */
  readonly target: RegistryClient
  readonly close: () => void
}

/** @throws KnownError where registries.conf or a credentials file does not load */
export async function openRegistries(options: AccessOptions, context: CliContext): Promise<Registries> {
  const { env, clock, log } = context
  const { conf } = await loadRegistriesConf({ path: options.registriesConf, env })
  const client = createRegistryClient({
    clock,
    log,
    credentials: credentialsFromFiles({ env, authFile: options.authfile, userId: process.getuid?.() }),
    tls: { ...tlsOptionsFromEnv(env), extraCaFiles: options.ca ?? [] },
    proxies: proxiesFromEnv(env),
  })
  const source = options.srcTlsVerify === false ? client.insecurely() : client
  const target = options.destTlsVerify === false ? client.insecurely() : client
  return { source: withRegistriesConf(source, conf), target, close: () => client.close() }
}
