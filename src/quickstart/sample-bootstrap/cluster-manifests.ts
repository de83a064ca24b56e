/**
 * What `create manifests` would have put into `manifests/` and `openshift/`, as far as a bootstrap host reads it.
 *
 * Source of the contract: openshift/installer `pkg/asset/manifests` and `data/data/manifests`.
 */
import { clusterDomain, type SampleBootstrapOptions } from './bootstrap-options.ts'
import { effectiveProxy } from './system-files.ts'

/** Texts by their place: `manifests/…`, `openshift/…`. What the options bring replaces what is there. */
export function clusterManifests(options: SampleBootstrapOptions): Readonly<Record<string, string>> {
  return {
    ...configManifests(options),
    ...secretManifests(options),
    ...machineManifests(options),
    ...options.manifests,
  }
}

function configManifests(options: SampleBootstrapOptions): Readonly<Record<string, string>> {
  const { digestSources = [], trustBundle } = options
  const domain = clusterDomain(options)
  return {
    'manifests/cluster-config.yaml': configMap('kube-system', 'cluster-config-v1', {
      'install-config': redactedInstallConfig(options),
    }),
    'manifests/cluster-dns-02-config.yml': resource('DNS', `spec:\n  baseDomain: ${domain}\nstatus: {}\n`),
    'manifests/cluster-infrastructure-02-config.yml': resource('Infrastructure', infrastructure(options)),
    'manifests/cluster-ingress-02-config.yml': resource('Ingress', `spec:\n  domain: apps.${domain}\nstatus: {}\n`),
    'manifests/cluster-network-02-config.yml': resource('Network', networks),
    'manifests/cluster-proxy-01-config.yaml': resource('Proxy', proxySpec(options)),
    'manifests/cluster-scheduler-02-config.yml': resource(
      'Scheduler',
      'spec:\n  mastersSchedulable: false\nstatus: {}\n',
    ),
    ...(digestSources.length > 0 && { 'manifests/image-digest-mirror-set.yaml': mirrorSet(options) }),
    'manifests/kube-cloud-config.yaml':
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: kube-cloud-cfg\n  namespace: kube-system\ntype: Opaque\n',
    ...(trustBundle !== undefined && {
      'manifests/user-ca-bundle-config.yaml': configMap('openshift-config', 'user-ca-bundle', {
        'ca-bundle.crt': trustBundle,
      }),
    }),
  }
}

function resource(kind: string, rest: string): string {
  return `apiVersion: config.openshift.io/v1\nkind: ${kind}\nmetadata:\n  name: cluster\n${rest}`
}

const networks = `spec:
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  networkType: OVNKubernetes
  serviceNetwork:
  - 172.30.0.0/16
status: {}
`

function infrastructure(options: SampleBootstrapOptions): string {
  const domain = clusterDomain(options)
  const type = { none: 'None', aws: 'AWS', vsphere: 'VSphere', baremetal: 'BareMetal' }[options.platform ?? 'none']
  return `spec:
  platformSpec:
    type: ${type}
status:
  apiServerInternalURI: https://api-int.${domain}:6443
  apiServerURL: https://api.${domain}:6443
  controlPlaneTopology: HighlyAvailable
  infrastructureName: ${options.clusterName ?? 'demo'}-7x2kq
  infrastructureTopology: HighlyAvailable
  platform: ${type}
`
}

function proxySpec(options: SampleBootstrapOptions): string {
  const { httpProxy, httpsProxy, noProxy } = options.proxy ?? {}
  const status = effectiveProxy(options)
  const fields = (values: object) =>
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`  ${name}: ${JSON.stringify(value)}\n`],
    )
  const trusted = options.trustBundle === undefined ? '""' : 'user-ca-bundle'
  const spec = [`spec:\n  trustedCA:\n    name: ${trusted}\n`, ...fields({ httpProxy, httpsProxy, noProxy })]
  return `${spec.join('')}${status === undefined ? 'status: {}\n' : `status:\n${fields({ ...status }).join('')}`}`
}

/** One entry for each that the install-config has, not merged. */
function mirrorSet({ digestSources = [] }: SampleBootstrapOptions): string {
  const entries = digestSources.map(({ source, mirrors, sourcePolicy }) => {
    const policy = sourcePolicy === undefined ? '' : `    mirrorSourcePolicy: ${sourcePolicy}\n`
    return `  - mirrors:\n${mirrors.map((mirror) => `    - ${mirror}\n`).join('')}${policy}    source: ${source}\n`
  })
  return `apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata:\n  name: image-digest-mirror\nspec:\n  imageDigestMirrors:\n${entries.join('')}status: {}\n`
}

/** As the cluster keeps it: without the pull secret. */
function redactedInstallConfig(options: SampleBootstrapOptions): string {
  const { clusterName = 'demo', baseDomain = 'lab.test', platform = 'none', architecture = 'amd64' } = options
  const { digestSources = [], trustBundle, sshKeys = [], fips = false, proxy } = options
  const document = {
    ...(trustBundle !== undefined && { additionalTrustBundle: trustBundle, additionalTrustBundlePolicy: 'Always' }),
    apiVersion: 'v1',
    baseDomain,
    compute: [{ architecture, name: 'worker', platform: {}, replicas: 2 }],
    controlPlane: { architecture, name: 'master', platform: {}, replicas: 3 },
    ...(fips && { fips }),
    ...(digestSources.length > 0 && { imageDigestSources: digestSources }),
    metadata: { name: clusterName },
    networking: {
      clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
      machineNetwork: [{ cidr: '10.0.0.0/16' }],
      networkType: 'OVNKubernetes',
      serviceNetwork: ['172.30.0.0/16'],
    },
    platform: { [platform]: platform === 'aws' ? { region: 'us-east-1' } : {} },
    ...(proxy !== undefined && { proxy }),
    publish: platform === 'aws' ? 'Internal' : 'External',
    pullSecret: '',
    sshKey: sshKeys.join('\n'),
  }
  // JSON is YAML; the installer writes the other spelling.
  return JSON.stringify(document, undefined, 2)
}

function secretManifests({ pullSecret, tls }: SampleBootstrapOptions): Readonly<Record<string, string>> {
  const rootCa = tls['root-ca.crt'] ?? ''
  const pair = (name: string) => ({ 'tls.crt': tls[`${name}.crt`] ?? '', 'tls.key': tls[`${name}.key`] ?? '' })
  const machineConfigs = 'openshift-machine-config-operator'
  return {
    'manifests/kube-system-configmap-root-ca.yaml': configMap('kube-system', 'root-ca', { 'ca.crt': rootCa }),
    'manifests/machine-config-server-ca-configmap.yaml': configMap(machineConfigs, 'machine-config-server-ca', {
      'ca-bundle.crt': rootCa,
    }),
    'manifests/machine-config-server-tls-secret.yaml': secret(
      { namespace: machineConfigs, name: 'machine-config-server-tls', type: 'kubernetes.io/tls' },
      pair('machine-config-server'),
    ),
    'manifests/openshift-config-secret-pull-secret.yaml': secret(
      { namespace: 'openshift-config', name: 'pull-secret', type: 'kubernetes.io/dockerconfigjson' },
      { '.dockerconfigjson': pullSecret },
    ),
  }
}

function machineManifests({ sshKeys = [] }: SampleBootstrapOptions): Readonly<Record<string, string>> {
  const keys = sshKeys.map((key) => `        - ${key}\n`).join('')
  const machineConfig = (role: string) => `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  labels:
    machineconfiguration.openshift.io/role: ${role}
  name: 99-${role}-ssh
spec:
  config:
    ignition:
      version: 3.2.0
    passwd:
      users:
      - name: core
        sshAuthorizedKeys:${keys === '' ? ' []' : ''}
${keys}`
  return {
    'openshift/99_kubeadmin-password-secret.yaml': secret(
      { namespace: 'kube-system', name: 'kubeadmin', type: 'Opaque' },
      { kubeadmin: '$2a$10$sample.hash.that.opens.nothing' },
    ),
    'openshift/99_openshift-machineconfig_99-master-ssh.yaml': machineConfig('master'),
    'openshift/99_openshift-machineconfig_99-worker-ssh.yaml': machineConfig('worker'),
  }
}

function configMap(namespace: string, name: string, data: Readonly<Record<string, string>>): string {
  const entries = Object.entries(data).map(([key, text]) => `  ${key}: |\n${indented(text)}`)
  return `apiVersion: v1\ndata:\n${entries.join('')}kind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n`
}

function secret(
  { namespace, name, type }: { readonly namespace: string; readonly name: string; readonly type: string },
  data: Readonly<Record<string, string>>,
): string {
  const entries = Object.entries(data).map(([key, text]) => `  ${key}: ${Buffer.from(text).toString('base64')}\n`)
  return `apiVersion: v1\ndata:\n${entries.join('')}kind: Secret\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\ntype: ${type}\n`
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}\n`)
    .join('')
}
