/** Names that DNS does not know: `/etc/hosts`, written whole. */
import { type Finding, finding } from '../../errors/finding.ts'
import type { HostName, WorkedOut } from './patch.ts'

export const hostsPath = '/etc/hosts'

/** As RHCOS has them (Fedora `setup` package, `hosts`): what is written replaces them. */
const localLines = [
  '127.0.0.1   localhost localhost.localdomain localhost4 localhost4.localdomain4',
  '::1         localhost localhost.localdomain localhost6 localhost6.localdomain6',
]

/** Registries and services whose names the certificate of a mirror does not have. */
const publicNames =
  /^(?:(?:.+\.)?quay\.io|(?:.+\.)?docker\.io|registry(?:\.access|\.connect)?\.redhat\.(?:io|com)|(?:sso|console|cloud|subscription)\.redhat\.com|(?:api|mirror|console|quay)\.openshift\.com|(?:registry\.)?k8s\.io|(?:k8s\.)?gcr\.io|ghcr\.io)$/i

export function hostsFile(hosts: readonly HostName[]): WorkedOut {
  const byAddress = Map.groupBy(hosts, ({ address }) => address)
  const lines = [...byAddress].map(([address, names]) => `${address} ${names.map(({ name }) => name).join(' ')}`)
  const contents = Buffer.from(`${[...localLines, ...lines].join('\n')}\n`)
  return {
    files: [{ path: hostsPath, mode: 0o644, contents, part: 'hosts' }],
    findings: [...hosts.flatMap((host) => judgeHost(host) ?? []), ...twice(hosts)],
  }
}

/** Names that the `/etc/hosts` of the config has and the new one does not. */
export function lostNames(before: Uint8Array, after: Uint8Array): readonly string[] {
  const kept = new Set(namesIn(after))
  return [...new Set(namesIn(before))].filter((name) => !kept.has(name))
}

function namesIn(hosts: Uint8Array): readonly string[] {
  const lines = Buffer.from(hosts).toString('utf8').split('\n')
  return lines.flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1))
}

function judgeHost({ name, address }: HostName): Finding | undefined {
  if (!isHostName(name)) return error('ignition.patch-host-invalid', `hosts: "${name}" is no name of a host`)
  if (!isAddress(address))
    return error('ignition.patch-host-invalid', `hosts: "${address}" of ${name} is no IP address`)
  if (publicNames.test(name))
    return finding({
      id: 'ignition.patch-host-public',
      severity: 'error',
      summary: `hosts: ${name} must not lead to ${address}: whoever asks for ${name} by TLS wants a certificate with that name, which a mirror does not have`,
      remedy: `Leave it out: imageDigestSources in install-config.yaml send pulls of ${name} to the mirror under the mirror’s own name.`,
    })
  if (!/^(?:127\.|::1$)/.test(address)) return undefined
  return finding({
    id: 'ignition.patch-host-loopback',
    severity: 'warning',
    summary: `hosts: ${name} at ${address} is the very host that reads it: on the bootstrap host the bootstrap host, on a node that node`,
    remedy: 'Write the address at which the machine of that name can be reached from the others.',
  })
}

function twice(hosts: readonly HostName[]): readonly Finding[] {
  const addresses = Map.groupBy(hosts, ({ name }) => name.toLowerCase())
  return [...addresses].flatMap(([name, entries]) => {
    const different = [...new Set(entries.map(({ address }) => address))]
    const said = `hosts: ${name} has ${different.length} addresses: ${different.join(', ')}`
    return different.length > 1 ? [error('ignition.patch-host-invalid', said)] : []
  })
}

function isHostName(text: string): boolean {
  return text.length <= 253 && /^(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*$/i.test(text)
}

function isAddress(text: string): boolean {
  const parts = text.split('.')
  if (parts.length === 4) return parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  return /^[0-9a-f:.]+$/i.test(text) && text.includes(':') && URL.canParse(`http://[${text}]/`)
}

function error(id: string, summary: string): Finding {
  return finding({ id, severity: 'error', summary, remedy: 'Write hosts as NAME: ADDRESS, one address for a name.' })
}
