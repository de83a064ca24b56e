/**
 * What the certificates and keys of /opt/openshift/tls are for, by the names that the installer gives them.
 *
 * Source: openshift/installer `pkg/asset/tls`.
 */

/** By the name without its ending. Whose a certificate is; its key and its bundle are told from the ending. */
const owners: Readonly<Record<string, string>> = {
  'root-ca': 'the root that the machine config server and the journal of the bootstrap host are trusted by',
  'machine-config-server': 'the server that gives machines their configs (port 22623)',
  'internal-release-image': 'the registry that serves the release within the cluster',
  'journal-gatewayd': 'the journal over HTTPS (port 19531): server here, and client for whoever reads it',
  'admin-kubeconfig-signer': 'the authority behind the administrator of the kubeconfig',
  'admin-kubeconfig-client': 'the administrator (system:admin) of the kubeconfig',
  'admin-kubeconfig': 'the authority behind the administrator of the kubeconfig',
  aggregator: 'the authority that extended API servers know the front proxy by',
  'aggregator-ca': 'the authority that extended API servers know the front proxy by',
  'aggregator-signer': 'the authority that extended API servers know the front proxy by',
  'aggregator-client': 'the API server when it passes requests on to extended API servers',
  'apiserver-proxy': 'the API server as a front proxy, of the first days of the cluster',
  'apiserver-proxy-kubelet': 'the API server as a client of kubelets',
  'kube-apiserver-lb-signer': 'the authority behind the API at api and api-int',
  'kube-apiserver-lb': 'the authority behind the API at api and api-int',
  'kube-apiserver-lb-server': 'the API at its outer name (api)',
  'kube-apiserver-internal-lb-server': 'the API at its inner name (api-int)',
  'kube-apiserver-localhost-signer': 'the authority behind the API at localhost',
  'kube-apiserver-localhost': 'the authority behind the API at localhost',
  'kube-apiserver-localhost-server': 'the API at localhost',
  'kube-apiserver-service-network-signer': 'the authority behind the API at its address in the service network',
  'kube-apiserver-service-network': 'the authority behind the API at its address in the service network',
  'kube-apiserver-service-network-server': 'the API at its address in the service network',
  'kube-apiserver-complete-server': 'every authority that one of the API server’s own certificates comes from',
  'kube-apiserver-complete-client': 'every authority that the API server accepts clients of',
  'kube-apiserver-to-kubelet-signer': 'the authority that kubelets know the API server by',
  'kube-apiserver-to-kubelet': 'the authority that kubelets know the API server by',
  'kube-apiserver-to-kubelet-client': 'the API server as a client of kubelets',
  'kube-control-plane-signer': 'the authority behind the clients of the control plane',
  'kube-control-plane': 'every authority that the control plane trusts the API by, with that of its own clients',
  'kube-control-plane-kube-controller-manager-client': 'the controller manager as a client of the API',
  'kube-control-plane-kube-scheduler-client': 'the scheduler as a client of the API',
  'kubelet-bootstrap-kubeconfig-signer': 'the authority behind machines that join',
  'kubelet-bootstrap-kubeconfig': 'the authority behind machines that join',
  'kubelet-signer': 'the authority that kubelets get their first certificates from',
  'kubelet-client': 'machines that join, before they have a certificate of their own',
  'kubelet-serving': 'the authority that kubelets serve under',
  'etcd-signer': 'the authority behind the members and clients of etcd',
  etcd: 'the authority behind the members and clients of etcd',
  'etcd-client': 'the API server as a client of etcd',
  'etcd-metric-signer': 'the authority behind the metrics of etcd',
  'etcd-metric': 'the authority behind the metrics of etcd',
  'etcd-metric-signer-client': 'whoever reads the metrics of etcd',
  'etcd-metric-client': 'whoever reads the metrics of etcd',
  'service-account': 'the tokens of service accounts',
  'bound-service-account-signing-key': 'tokens of service accounts that the cloud is to trust',
  'bootstrap-ssh': 'the installer’s own way in by SSH, for gathering logs',
  'cloud-ca-cert': 'the authority behind the API of the cloud',
  ironic: 'Ironic, which installs machines of bare metal',
  'ironic/tls': 'Ironic, which installs machines of bare metal',
}

const endings: readonly (readonly [ending: RegExp, what: string])[] = [
  [/-ca-bundle\.crt$|-bundle\.crt$/, 'whom to trust'],
  [/\.key$/, 'private key'],
  [/\.pub$/, 'public key'],
  [/\.(?:crt|pem)$/, 'certificate'],
]

/** @param name of the file within its folder; undefined where it is none of the installer's */
export function explainTls(name: string): string | undefined {
  const [ending, what] = endings.find(([pattern]) => pattern.test(name)) ?? []
  if (ending === undefined) return undefined
  const base = name.replace(ending, '')
  const owner = owners[base] ?? owners[base.replace(/-(?:ca|client-ca)$/, '')]
  return owner === undefined ? undefined : `${what}: ${owner}`
}
