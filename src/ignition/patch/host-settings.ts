/** Settings of the operating system that are one file each: time servers, and the proxies of the bootstrap host. */
import { type Finding, finding } from '../../errors/finding.ts'
import type { PatchedFile, ProxyPatch, WorkedOut } from './patch.ts'

/** As the machine config in the OpenShift documentation, "Configuring chrony time service", with servers in place of a pool. */
export function chronyFile(servers: readonly string[]): WorkedOut {
  const lines = [
    ...servers.map((server) => `server ${server} iburst`),
    'driftfile /var/lib/chrony/drift',
    'makestep 1.0 3',
    'rtcsync',
    'logdir /var/log/chrony',
  ]
  const wrong = servers.filter((server) => !/^[a-z0-9_.:-]+$/i.test(server))
  return {
    files: [textFile('/etc/chrony.conf', `${lines.join('\n')}\n`, { mode: 0o644, part: 'chrony' })],
    findings: wrong.map((server) =>
      finding({
        id: 'ignition.patch-chrony-invalid',
        severity: 'error',
        summary: `chrony: "${server}" is neither a name nor an address of a server`,
        remedy:
          'Write names or addresses alone; other settings of chrony.conf go in as a file: files, path: /etc/chrony.conf.',
      }),
    ),
  }
}

/**
 * The two files in which the installer tells the bootstrap host its proxies.
 *
 * Mode 0600, since a proxy URL may hold a password. In a unit file `%` begins a specifier, and is doubled.
 *
 * Source: openshift/installer `data/data/bootstrap/files/etc/profile.d/proxy.sh.template`,
 * `etc/systemd/system.conf.d/10-default-env.conf.template`.
 */
export function proxyFiles({ httpProxy, httpsProxy, noProxy }: ProxyPatch): WorkedOut {
  const variables = [
    ['HTTP_PROXY', httpProxy],
    ['HTTPS_PROXY', httpsProxy],
    ['NO_PROXY', noProxy?.join(',')],
  ] as const
  const said = variables.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
  const shell = said.map(({ name, value }) => `export ${name}="${value}"\n`).join('')
  const manager = said
    .map(({ name, value }) => `DefaultEnvironment=${name}="${value.replaceAll('%', '%%')}"\n`)
    .join('')
  const mode = 0o600
  return {
    files: [
      textFile('/etc/profile.d/proxy.sh', shell, { mode, part: 'proxy' }),
      textFile('/etc/systemd/system.conf.d/10-default-env.conf', `[Manager]\n${manager}`, { mode, part: 'proxy' }),
    ],
    findings: [
      ...judgeUrl('httpProxy', httpProxy),
      ...judgeUrl('httpsProxy', httpsProxy),
      ...judgeExceptions(noProxy ?? []),
    ],
  }
}

function judgeUrl(field: string, url: string | undefined): readonly Finding[] {
  if (url === undefined) return []
  const scheme = URL.canParse(url) ? new URL(url).protocol : ''
  if (!['http:', 'https:'].includes(scheme))
    return [invalidProxy(`proxy: ${field} is no URL of a proxy, http://HOST:PORT`)]
  return isPlain(url) ? [] : [invalidProxy(`proxy: ${field} holds a character that a shell would read as its own`)]
}

function judgeExceptions(names: readonly string[]): readonly Finding[] {
  const wrong = names.filter((name) => !isPlain(name) || name.includes(','))
  return wrong.map((name) => invalidProxy(`proxy: "${name}" in noProxy is neither a domain nor a network`))
}

function isPlain(text: string): boolean {
  return /^[^\s"'`$\\<>|;]+$/.test(text)
}

function invalidProxy(summary: string): Finding {
  const remedy = 'Write http://[NAME:PASSWORD@]HOST:PORT, with what is special in NAME and PASSWORD percent-encoded.'
  return finding({ id: 'ignition.patch-proxy-invalid', severity: 'error', summary, remedy })
}

function textFile(path: string, text: string, rest: Pick<PatchedFile, 'mode' | 'part'>): PatchedFile {
  return { path, contents: Buffer.from(text), ...rest }
}
