/**
 * The names of the API, and the proxy that must not stand before a mirror.
 *
 * bootkube goes on where they do not resolve (openshift/installer `bootstrap-verify-api-server-urls.sh`); machines that want their
 * configs from api-int do not.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import { proxiesFromEnv, proxyFor } from '../../remote/proxy.ts'
import { evidenceText, lineWith } from './config-places.ts'
import type { RehearsedHost, ResolvedName } from './level-one-report.ts'

export async function resolveNames(
  { cluster }: BootstrapConfig,
  resolveName: (name: string) => Promise<readonly string[]>,
): Promise<readonly ResolvedName[]> {
  const { api, apiInt } = cluster.names
  const asked = [
    ...(api === undefined ? [] : [{ name: api, purpose: 'api' as const }]),
    ...(apiInt === undefined ? [] : [{ name: apiInt, purpose: 'api-int' as const }]),
  ]
  return Promise.all(asked.map(async (one) => ({ ...one, addresses: await resolveName(one.name) })))
}

/** Where the installer, or CoreDNS on the hosts themselves, makes the name once the machines are there. */
const madeLater: Readonly<Record<ResolvedName['purpose'], ReadonlySet<string>>> = {
  api: new Set(['aws', 'azure', 'gcp', 'ibmcloud', 'powervs']),
  'api-int': new Set([
    ...['aws', 'azure', 'gcp', 'ibmcloud', 'powervs'],
    ...['baremetal', 'nutanix', 'openstack', 'ovirt', 'vsphere'],
  ]),
}

const bootkube = '/usr/local/bin/bootkube.sh'

export function checkNames(bootstrap: BootstrapConfig, names: readonly ResolvedName[]): readonly Finding[] {
  const { platform = 'none' } = bootstrap.cluster
  return names
    .filter(({ addresses }) => addresses.length === 0)
    .map(({ name, purpose }) => {
      const isLater = madeLater[purpose].has(platform)
      const isNamed = bootstrap.files.get(bootkube)?.text.includes(name)
      const at = isNamed ? lineWith(bootstrap, bootkube, name) : undefined
      const whom =
        purpose === 'api'
          ? 'the installer and oc ask for it'
          : 'every machine asks it for its config (port 22623), and the kubelets for the API'
      return finding({
        id: `rehearse.${purpose}-unresolved`,
        severity: isLater ? 'info' : 'warning',
        summary: `${name} has no address: ${whom}. The bootstrap host itself goes on without`,
        evidence: evidenceText(at, `neither DNS here nor --via knows ${name}`),
        remedy: isLater
          ? `On ${platform} the name is made during the installation. To say where it will be: --via ${name}=ADDRESS.`
          : `Make an A record for ${name} that leads to the load balancer (bootstrap and control plane behind it). Where only this machine does not know it: --via ${name}=ADDRESS.`,
        ...(at && { where: at }),
      })
    })
}

/** The installer adds its own networks to noProxy, and not the mirror (openshift/installer `pkg/asset/manifests/proxy.go`). */
export function checkNoProxy(bootstrap: BootstrapConfig, hosts: readonly RehearsedHost[]): readonly Finding[] {
  const { proxy, registries } = bootstrap
  if (proxy === undefined) return []
  const settings = proxiesFromEnv({
    HTTP_PROXY: proxy.secretHttpProxy,
    HTTPS_PROXY: proxy.secretHttpsProxy,
    NO_PROXY: proxy.noProxy.join(','),
  })
  const mirrors = new Set(
    registries.conf.registries.flatMap(({ mirrors: all }) => all.map(({ location }) => location.split('/')[0] ?? '')),
  )
  return [...mirrors]
    .filter((host) => URL.canParse(`https://${host}/v2/`))
    .filter((host) => proxyFor(new URL(`https://${host}/v2/`), settings) !== undefined)
    .map((host) => {
      const failure = hosts.find((one) => one.host === host)?.message
      const name = host.replace(/:\d+$/, '')
      const at = lineWith(bootstrap, proxy.path, 'NO_PROXY')
      return finding({
        id: 'rehearse.no-proxy-missing',
        severity: failure === undefined ? 'warning' : 'error',
        summary: `There is a proxy, and noProxy does not name the mirror ${name}: its images would come through ${proxy.httpsProxy ?? proxy.httpProxy}`,
        evidence: evidenceText(at, `NO_PROXY=${proxy.noProxy.join(',')}`, failure),
        remedy: `Add ${name} to proxy.noProxy of install-config.yaml. A network (CIDR) covers addresses, and no names.`,
        ...(at && { where: at }),
      })
    })
}
