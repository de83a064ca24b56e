import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { machineAddresses } from '../../host/network.ts'
import { thisProcess } from '../../host/processes.ts'
import { createAccount, defaultHtpasswd } from '../../registry/account.ts'
import { selfSignedCertificate } from '../../registry/certificate.ts'
import { startRegistry } from '../../registry/server.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderServing, type Serving } from '../render/serving.ts'

interface ServeOptions {
  root: string
  listen: { host: string; port: number }
  tlsCert?: string
  tlsKey?: string
  selfSigned?: boolean
  san: string[]
  htpasswd?: string
  initUser?: string
  readOnly?: boolean
  sparseIndex: 'allow' | 'refuse'
  chunkMinLength?: number
  insecureHttp?: boolean
}

const examples = `
Examples:
  sallyport registry serve --root ./registry
      on http://127.0.0.1:5000, for a try
  sallyport registry serve --root /var/lib/sallyport --listen 0.0.0.0:8443 --self-signed --san registry.lab --init-user admin
      with TLS and a password: makes a CA, a certificate and a user, and says where they are
  sallyport registry serve --root /var/lib/sallyport --listen 10.0.0.5:8443 --tls-cert srv.crt --tls-key srv.key --htpasswd users
      with your own certificate and password file (made with: htpasswd -nB NAME > users; chmod 600 users)`

export function defineServe(command: Command, host: CommandHost): void {
  command
    .summary('serve images from a directory until Ctrl-C')
    .requiredOption('--root <dir>', 'directory of the store; made where it is missing')
    .option('--listen <host:port>', 'address to serve on', parseListen, { host: '127.0.0.1', port: 5000 })
    .option('--self-signed', 'make a CA and a certificate under ROOT/tls, or use those that are there')
    .option('--san <name>', 'with --self-signed: a host name or IP address that clients use (repeat it)', collect, [])
    .option('--tls-cert <file>', 'certificate chain, PEM')
    .option('--tls-key <file>', 'its key, PEM')
    .option('--htpasswd <file>', 'users and bcrypt hashes, mode 0600; default: ROOT/htpasswd where there is one')
    .option(
      '--init-user <name>',
      'make ROOT/htpasswd with this user and a random password, unless it is there',
      parseUser,
    )
    .option('--read-only', 'refuse every push and delete')
    .addOption(
      new Option('--sparse-index <what>', 'an index that names manifests which are not here')
        .choices(['allow', 'refuse'])
        .default('allow'),
    )
    .option('--chunk-min-length <bytes>', 'announce a least size for chunks of an upload', parseBytes)
    .option('--insecure-http', 'allow plain HTTP on other addresses than loopback')
    .addHelpText('after', examples)
    .action(async (options: ServeOptions) => {
      const context = host.context()
      await serve(options, context)
      host.done(0)
    })
}

async function serve(options: ServeOptions, context: CliContext): Promise<void> {
  const { root, listen, readOnly, sparseIndex, insecureHttp, initUser } = options
  const tls = await loadTls(options, context)
  const account = initUser === undefined ? undefined : await createAccount(root, initUser)
  const htpasswd = options.htpasswd ?? (existsSync(defaultHtpasswd(root)) ? defaultHtpasswd(root) : undefined)
  const registry = await startRegistry({
    root,
    listen,
    tls,
    htpasswd,
    readOnly,
    sparseIndex,
    insecureHttp,
    chunkMinBytes: options.chunkMinLength,
    log: context.log,
    clock: context.clock,
  })
  const { url, address } = isEveryAddress(listen.host)
    ? renamed(registry, options.san[0] ?? thisProcess().host)
    : registry
  const serving: Serving = { url, address, root, caFile: tls?.caFile, htpasswd, account, username: initUser, readOnly }
  context.stdout(context.json ? `${JSON.stringify(serving)}\n` : renderServing(serving))
  if (!context.signal.aborted) await once(context.signal, 'abort')
  await registry.close()
}

/** The addresses under the name that clients are to use: nobody can log in to 0.0.0.0. */
function renamed({ url, address }: { url: string; address: string }, name: string): { url: string; address: string } {
  const port = address.slice(address.lastIndexOf(':'))
  return { url: `${url.slice(0, url.indexOf('//') + 2)}${name}${port}`, address: name + port }
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

interface Tls {
  readonly certificate: string
  readonly key: string
  /** Of the authority made here. */
  readonly caFile?: string
}

async function loadTls(options: ServeOptions, { clock }: CliContext): Promise<Tls | undefined> {
  const { tlsCert, tlsKey, root } = options
  if (options.selfSigned) {
    if (tlsCert !== undefined || tlsKey !== undefined)
      throw new KnownError('USAGE', '--self-signed makes its own certificate: leave out --tls-cert and --tls-key')
    return selfSignedCertificate({ root, hosts: hostsToCover(options), clock })
  }
  if (options.san.length > 0) throw new KnownError('USAGE', '--san is for --self-signed')
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined)
    throw new KnownError('USAGE', '--tls-cert and --tls-key belong together')
  const tls = { certificate: readPem(tlsCert), key: readPem(tlsKey) }
  try {
    createSecureContext({ cert: tls.certificate, key: tls.key })
  } catch (cause) {
    throw new KnownError('CONFIG_INVALID', `${tlsCert} and ${tlsKey} are not a certificate and its key`, { cause })
  }
  return tls
}

function hostsToCover({ listen, san }: ServeOptions): string[] {
  const listening = isEveryAddress(listen.host) ? machineAddresses() : [listen.host]
  return ['localhost', '127.0.0.1', '::1', thisProcess().host, ...listening, ...san]
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new KnownError('FILE_UNREADABLE', `Cannot read ${path}`, { cause })
  }
}

function parseListen(text: string): ServeOptions['listen'] {
  const [, v6, name, port] = /^(?:\[([0-9a-f:]+)\]|([^:]*)):([0-9]{1,5})$/i.exec(text) ?? []
  if (port === undefined || Number(port) > 65535)
    throw new InvalidArgumentError('Write HOST:PORT, for example 127.0.0.1:5000, 0.0.0.0:8443 or [::1]:5000.')
  return { host: v6 ?? (name || '0.0.0.0'), port: Number(port) }
}

function parseBytes(text: string): number {
  if (!/^[0-9]{1,10}$/.test(text)) throw new InvalidArgumentError('Write a number of bytes.')
  return Number(text)
}

function parseUser(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text))
    throw new InvalidArgumentError('A user name has letters, digits, . _ and -.')
  return text
}

function collect(text: string, earlier: readonly string[]): string[] {
  return [...earlier, ...text.split(',').filter((name) => name !== '')]
}
