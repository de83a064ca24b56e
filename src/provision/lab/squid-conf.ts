/** Configuration of squid for a bastion, and its access log. Pure. */

export interface SquidConf {
  /** `address:port`, each. */
  readonly listen: readonly string[]
  /** Holds everything that it writes. */
  readonly folder: string
  /** Program that checks a name and a password against a file of Apache's form. */
  readonly passwordProgram: string
  /** Undefined: the user that starts it. */
  readonly user: string | undefined
}

/** Any destination, with a password; nothing is kept. */
export function renderSquidConf({ listen, folder, passwordProgram, user }: SquidConf): string {
  return `${[
    ...listen.map((address) => `http_port ${address}`),
    `pid_filename ${folder}/squid.pid`,
    `access_log stdio:${folder}/access.log`,
    `cache_log ${folder}/cache.log`,
    'cache_store_log none',
    'cache deny all',
    `coredump_dir ${folder}`,
    ...(user === undefined ? [] : [`cache_effective_user ${user}`]),
    'visible_hostname bastion',
    `auth_param basic program ${passwordProgram} ${folder}/passwords`,
    'auth_param basic realm bastion',
    'auth_param basic children 2 startup=1',
    'acl authenticated proxy_auth REQUIRED',
    'http_access allow authenticated',
    'http_access deny all',
    'shutdown_lifetime 0 seconds',
    'logfile_rotate 0',
    'pinger_enable off',
  ].join('\n')}\n`
}

/** A request that the proxy answered. */
export interface ProxiedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly client: string
  readonly method: string
  /** `host:port` of CONNECT, otherwise a URL. */
  readonly target: string
  readonly status: number
  /** Absent where no password was given. */
  readonly user?: string
}

/** Lines in squid's own format (squid.conf `logformat squid`); others are left out. */
export function readAccessLog(text: string): readonly ProxiedRequest[] {
  return text.split('\n').flatMap((line) => {
    const [time = '', , client = '', result = '', , method = '', target = '', user = '-'] = line.trim().split(/\s+/)
    const status = Number(result.split('/')[1])
    if (!/^\d+\.\d+$/.test(time) || !Number.isInteger(status) || target === '') return []
    const at = Math.round(Number(time) * 1000)
    return [{ at, client, method, target, status, ...(user !== '-' && { user }) }]
  })
}
