/** The options by which every command that talks to registries is told how, and what is built from them. */
import { type Command, Option } from 'commander'
import { loadRegistriesConf } from '../config/registries-conf.ts'
import type { ContentSource } from '../oci/content.ts'
import { createRegistryClient, type RegistryClient } from '../remote/client.ts'
import { proxiesFromEnv } from '../remote/proxy.ts'
import { withRegistriesConf } from '../remote/registries-conf-source.ts'
import { addRetryOptions, addSourceOptions, type ConnectionOptions, retriesOf } from './connection-options.ts'
import type { CliContext } from './context.ts'
import { readBoolean } from './flag-values.ts'
import { addSideOptions, areSidesApart, type Side, type SideOptions, sideAccess } from './side-access.ts'

export interface AccessOptions extends SideOptions, ConnectionOptions {
  registriesConf?: string
  /** Absent: true. */
  destTlsVerify?: boolean
}

export function addAccessOptions(command: Command): Command {
  command
    .option('--authfile <file>', 'credentials, as podman login writes them (also REGISTRY_AUTH_FILE)')
    .option('--registries-conf <file>', 'registries.conf for reading (also CONTAINERS_REGISTRIES_CONF)')
  addSourceOptions(command)
  command.option(
    '--dest-tls-verify [yes]',
    'verify the certificate of the destination; =false also allows plain HTTP (default: true)',
    readBoolean,
  )
  addRetryOptions(command)
  command.addOption(new Option('--tls-verify [yes]', 'both of the above').argParser(readBoolean).hideHelp())
  return addSideOptions(command)
}

export interface Registries {
  /** Reads through registries.conf. */
  readonly source: ContentSource
  /** Talks to registries by the names they are given. */
  readonly target: RegistryClient
  readonly close: () => void
}

/** @throws KnownError where flags contradict each other, and where registries.conf or a credentials file does not load */
export async function openRegistries(options: AccessOptions, context: CliContext): Promise<Registries> {
  const { env, clock, log } = context
  const { conf } = await loadRegistriesConf({ path: options.registriesConf, env })
  const retries = retriesOf(options)
  const clientFor = (side: Side) =>
    createRegistryClient({
      clock,
      log,
      ...sideAccess(side, options, context),
      proxies: proxiesFromEnv(env),
      limits: { retries },
    })
  const dest = clientFor('dest')
  const src = areSidesApart(options) ? clientFor('src') : dest
  const isVerified = (said: boolean | undefined) => said ?? options.tlsVerify ?? true
  const source = isVerified(options.srcTlsVerify) ? src : src.insecurely()
  const target = isVerified(options.destTlsVerify) ? dest : dest.insecurely()
  const close = () => {
    for (const client of new Set([src, dest])) client.close()
  }
  return { source: withRegistriesConf(source, conf), target, close }
}
