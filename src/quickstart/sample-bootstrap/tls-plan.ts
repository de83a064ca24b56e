/**
 * The certificates that the installer makes for a bootstrap: who signs which, for whom, and for how long.
 *
 * Source: openshift/installer `pkg/asset/tls` (subjects, lifetimes, names) and `common.go:addParentFiles` (which of them
 * the bootstrap host gets).
 */
import { clusterDomain, type SampleCluster } from './bootstrap-options.ts'

export interface PlannedCertificate {
  /** Without `.crt` and `.key`. */
  readonly name: string
  /** RFC 4514. */
  readonly subject: string
  readonly hours: number
  /** The name of the certificate that signs it; absent, it signs itself. */
  readonly signer?: string
  readonly isAuthority?: boolean
  /** Host names and addresses. */
  readonly hosts?: readonly string[]
  readonly usages?: readonly ('server' | 'client')[]
  /** True where the certificate of the signer follows in the same file. */
  readonly hasSigner?: boolean
}

/** Several certificates in one file. */
interface PlannedBundle {
  readonly name: string
  readonly of: readonly string[]
}

const day = 24
const year = 365 * day
const decade = 10 * year

/** Signers before what they sign. */
export function plannedCertificates(cluster: SampleCluster): readonly PlannedCertificate[] {
  return [...authorities, ...clients, ...serversOf(clusterDomain(cluster))]
}

function authority(name: string, hours: number, subject = `OU=openshift, CN=${name}`): PlannedCertificate {
  return { name, subject, hours, isAuthority: true }
}

const authorities: readonly PlannedCertificate[] = [
  authority('root-ca', decade),
  authority('admin-kubeconfig-signer', decade),
  authority('aggregator-ca', day, 'OU=bootkube, CN=aggregator'),
  authority('aggregator-signer', day),
  authority('kube-apiserver-lb-signer', decade),
  authority('kube-apiserver-localhost-signer', decade),
  authority('kube-apiserver-service-network-signer', decade),
  authority('kube-apiserver-to-kubelet-signer', year),
  authority('kube-control-plane-signer', year),
  authority('kubelet-bootstrap-kubeconfig-signer', decade),
  authority('kubelet-signer', day),
]

const nodeBootstrapper = 'system:serviceaccount:openshift-machine-config-operator:node-bootstrapper'
const clients: readonly PlannedCertificate[] = [
  client('admin-kubeconfig-client', 'admin-kubeconfig-signer', [decade, 'O=system:masters, CN=system:admin']),
  client('aggregator-client', 'aggregator-signer', [day, 'O=kube-master, CN=system:kube-apiserver-proxy']),
  client('apiserver-proxy', 'aggregator-ca', [day, 'O=kube-master, CN=system:kube-apiserver-proxy']),
  client('kube-apiserver-to-kubelet-client', 'kube-apiserver-to-kubelet-signer', [
    year,
    'O=kube-master, CN=system:kube-apiserver',
  ]),
  client('kube-control-plane-kube-controller-manager-client', 'kube-control-plane-signer', [
    year,
    'O=system:masters, CN=system:admin',
  ]),
  client('kube-control-plane-kube-scheduler-client', 'kube-control-plane-signer', [
    year,
    'O=system:masters, CN=system:admin',
  ]),
  client('kubelet-client', 'kubelet-bootstrap-kubeconfig-signer', [decade, `CN=${nodeBootstrapper}`]),
  {
    ...client('journal-gatewayd', 'root-ca', [decade, 'O=OpenShift Bootstrap, CN=journal-gatewayd']),
    usages: ['client', 'server'],
  },
]

function client(name: string, signer: string, [hours, subject]: readonly [number, string]): PlannedCertificate {
  return { name, signer, hours, subject, usages: ['client'] }
}

function serversOf(domain: string): readonly PlannedCertificate[] {
  const server = (name: string, signer: string, hosts: readonly string[]): PlannedCertificate => ({
    name: `kube-apiserver-${name}-server`,
    subject: 'O=kube-master, CN=system:kube-apiserver',
    signer: `kube-apiserver-${signer}-signer`,
    hours: day,
    hosts,
    usages: ['server'],
    hasSigner: true,
  })
  const services = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ]
  return [
    server('lb', 'lb', [`api.${domain}`]),
    server('internal-lb', 'lb', [`api-int.${domain}`]),
    server('localhost', 'localhost', ['localhost', '127.0.0.1']),
    server('service-network', 'service-network', [...services, '172.30.0.1']),
    {
      name: 'machine-config-server',
      subject: 'CN=system:machine-config-server',
      signer: 'root-ca',
      hours: decade,
      hosts: [`api-int.${domain}`],
      usages: ['server'],
    },
  ]
}

/** What stays on the machine of the installer, or goes into a kubeconfig. */
const keptBack = [
  'root-ca.key',
  'admin-kubeconfig-signer.crt',
  'admin-kubeconfig-signer.key',
  'admin-kubeconfig-client.crt',
  'admin-kubeconfig-client.key',
  'kubelet-bootstrap-kubeconfig-signer.crt',
  'kubelet-bootstrap-kubeconfig-signer.key',
]

/** True where a file of `tls/` is on the bootstrap host too. */
export function isOnBootstrap(name: string): boolean {
  return !keptBack.includes(name)
}

export const plannedBundles: readonly PlannedBundle[] = [
  { name: 'admin-kubeconfig-ca-bundle', of: ['admin-kubeconfig-signer'] },
  { name: 'aggregator-ca-bundle', of: ['aggregator-signer'] },
  { name: 'kube-apiserver-lb-ca-bundle', of: ['kube-apiserver-lb-signer'] },
  { name: 'kube-apiserver-localhost-ca-bundle', of: ['kube-apiserver-localhost-signer'] },
  { name: 'kube-apiserver-service-network-ca-bundle', of: ['kube-apiserver-service-network-signer'] },
  {
    name: 'kube-apiserver-complete-server-ca-bundle',
    of: ['kube-apiserver-localhost-signer', 'kube-apiserver-service-network-signer', 'kube-apiserver-lb-signer'],
  },
  {
    name: 'kube-apiserver-complete-client-ca-bundle',
    of: [
      'admin-kubeconfig-signer',
      'kubelet-signer',
      'kube-control-plane-signer',
      'kube-apiserver-to-kubelet-signer',
      'kubelet-bootstrap-kubeconfig-signer',
    ],
  },
  { name: 'kube-apiserver-to-kubelet-ca-bundle', of: ['kube-apiserver-to-kubelet-signer'] },
  { name: 'kube-control-plane-ca-bundle', of: ['kube-control-plane-signer', 'kubelet-signer'] },
  { name: 'kubelet-bootstrap-kubeconfig-ca-bundle', of: ['kubelet-bootstrap-kubeconfig-signer'] },
  { name: 'kubelet-client-ca-bundle', of: ['kubelet-signer'] },
  { name: 'kubelet-serving-ca-bundle', of: ['kubelet-signer'] },
]
