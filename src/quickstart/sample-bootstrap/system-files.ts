/**
 * Files of the host itself: mirrors, trust, credentials, proxy.
 *
 * Source of the contract: openshift/installer `data/data/bootstrap/files/etc`, `files/root` and
 * `pkg/asset/ignition/bootstrap/registries.go:MergedMirrorSets`.
 */
import {
  clusterDomain,
  isSince,
  type SampleBootstrapOptions,
  type SampleDigestSource,
  type SampleProxy,
} from './bootstrap-options.ts'

/** Texts by path. */
export function systemFiles(options: SampleBootstrapOptions): Readonly<Record<string, string>> {
  const { fips = false, trustBundle, pullSecret } = options
  const proxy = effectiveProxy(options)
  return {
    '/etc/containers/registries.conf': bootstrapRegistriesConf(options),
    '/etc/ignition-machine-config-encapsulated.json': encapsulated(fips),
    '/etc/motd': motd,
    '/etc/pki/ca-trust/source/anchors/ca.crt': trustBundle === undefined ? '' : `${trustBundle}\n`,
    '/etc/profile.d/proxy.sh': proxyLines(proxy, (name, value) => `export ${name}="${value}"`),
    '/etc/systemd/system.conf.d/10-default-env.conf': managerEnvironment(proxy),
    '/root/.docker/config.json': `${pullSecret}\n`,
  }
}

/** As the template of the installer gives it, blank lines too. */
function bootstrapRegistriesConf({ era, digestSources = [] }: SampleBootstrapOptions): string {
  const entries = mergedSources(digestSources).map(({ source, mirrors, sourcePolicy }) => {
    const blocked = isSince(era, '4.21') ? `blocked = ${sourcePolicy === 'NeverContactSource'}\n` : ''
    const head = `[[registry]]\nlocation = "${source}"\ninsecure = false\nmirror-by-digest-only = true\n${blocked}\n`
    const mirrorLines = mirrors.map((mirror) => `[[registry.mirror]]\nlocation = "${mirror}"\ninsecure = false\n`)
    return `${head}${mirrorLines.join('')}\n\n`
  })
  return entries.join('')
}

/** One entry for each source and policy, in the order in which they come; mirrors once each. */
function mergedSources(sources: readonly SampleDigestSource[]): readonly SampleDigestSource[] {
  const merged = new Map<string, SampleDigestSource>()
  for (const { mirrors, ...rest } of sources) {
    const key = `${rest.source} ${rest.sourcePolicy ?? ''}`
    merged.set(key, { ...rest, mirrors: [...new Set([...(merged.get(key)?.mirrors ?? []), ...mirrors])] })
  }
  return [...merged.values()].filter(({ mirrors }) => mirrors.length > 0)
}

function encapsulated(fips: boolean): string {
  const document = {
    metadata: { name: 'bootstrap-fips' },
    spec: { config: { ignition: { version: '3.1.0' } }, kernelArguments: [], fips },
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

const motd = `This is the bootstrap host: it is removed when the control plane runs by itself.

  journalctl -b -f -u release-image.service -u bootkube.service -u node-image-pull.service
`

/** With what the installer adds to noProxy; undefined where there is no proxy. The name of a mirror is not among it. */
export function effectiveProxy(options: SampleBootstrapOptions): SampleProxy | undefined {
  const { proxy } = options
  if (proxy?.httpProxy === undefined && proxy?.httpsProxy === undefined) return undefined
  if (proxy.noProxy === '*') return proxy
  const own = (proxy.noProxy ?? '').split(',').filter((part) => part !== '')
  const added = [
    '127.0.0.1',
    'localhost',
    '.svc',
    '.cluster.local',
    `api-int.${clusterDomain(options)}`,
    '10.0.0.0/16',
    '10.128.0.0/14',
    '172.30.0.0/16',
  ]
  return { ...proxy, noProxy: [...new Set([...own, ...added])].sort().join(',') }
}

function managerEnvironment(proxy: SampleProxy | undefined): string {
  const lines = proxyLines(proxy, (name, value) => `DefaultEnvironment=${name}="${value.replaceAll('%', '%%')}"`)
  return lines === '' ? '' : `[Manager]\n${lines}`
}

function proxyLines(proxy: SampleProxy | undefined, line: (name: string, value: string) => string): string {
  const { httpProxy, httpsProxy, noProxy } = proxy ?? {}
  const variables = Object.entries({ HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy })
  return variables.flatMap(([name, value]) => (value === undefined ? [] : [`${line(name, value)}\n`])).join('')
}
