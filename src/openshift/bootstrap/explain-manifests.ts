/**
 * What the manifests are for that the installer writes into a bootstrap config, by file name.
 *
 * Source: openshift/installer `data/data/manifests`, `pkg/asset/manifests`, `pkg/asset/machines`.
 */

const known: readonly (readonly [name: RegExp, text: string])[] = [
  [/^cluster-config\.yaml$/, 'the install-config, without its secrets, for operators to read'],
  [/^cluster-dns-0[12]-.*$/, 'DNS of the cluster: the base domain, and zones that operators are to keep'],
  [/^cluster-infrastructure-.*$/, 'platform, names of the API, VIPs: what most operators ask first'],
  [/^cluster-ingress-0[12]-.*$/, 'the domain of applications (*.apps)'],
  [/^cluster-ingress-default-ingresscontroller\.yaml$/, 'how the default ingress controller is published'],
  [/^cluster-network-.*$/, 'networks of the cluster, and which plug-in makes them'],
  [/^cluster-networkconfig-.*$/, 'the kind of resource that describes the network'],
  [/^cluster-proxy-01-config\.yaml$/, 'proxies of the cluster, and which authorities pods get to trust'],
  [/^cluster-scheduler-02-config\.yml$/, 'whether control plane machines also run applications'],
  [/^cluster-csi-driver-config\.yaml$/, 'settings of the storage driver of the platform'],
  [/^cluster-authentication-02-config\.yaml$/, 'who issues the tokens of service accounts'],
  [
    /^cvo-overrides\.yaml$/,
    'the ClusterVersion: channel, cluster id, and what the operator must leave alone until the end',
  ],
  [/^image-digest-mirror-set\.yaml$/, 'mirrors for images named by digest: the nodes’ registries.conf is made from it'],
  [/^image-content-source-policy(?:-\d+)?\.yaml$/, 'mirrors for images named by digest, in the form of before 4.13'],
  [/^user-ca-bundle-config\.yaml$/, 'the additional trust bundle: every node gets it'],
  [/^openshift-config-secret-pull-secret\.yaml$/, 'the pull secret of the cluster: every node pulls with it'],
  [/^kube-cloud-config\.yaml$/, 'settings of the cloud provider for the first control plane'],
  [/^cloud-provider-config\.yaml$/, 'settings of the cloud provider'],
  [/^cloud-controller-uid-config\.yml$/, 'the name under which the cloud knows this cluster'],
  [/^kube-system-configmap-root-ca\.yaml$/, 'the root authority, for whoever asks the machine config server'],
  [
    /^machine-config-server-ca-(?:configmap|secret)\.yaml$/,
    'the authority behind the machine config server, for its later renewal',
  ],
  [/^machine-config-server-tls-secret\.yaml$/, 'certificate and key of the machine config server'],
  [
    /^internal-release-image-tls-secret\.yaml$/,
    'certificate and key of the registry that serves the release within the cluster',
  ],
  [/^04-openshift-machine-config-operator\.yaml$/, 'the namespace of the machine config operator'],
  [
    /^90_cluster-mco-02-config\.yaml$/,
    'settings of the machine config operator, such as which boot images to keep up to date',
  ],
  [
    /^(?:host-)?etcd-.*\.yaml$|^kube-system-(?:configmap|secret)-etcd-.*|^openshift-config-(?:configmap|secret)-etcd-.*/,
    'etcd of before 4.6: certificates and services that its operator takes over',
  ],
  [/^openshift-kubevirt-infra-namespace\.yaml$/, 'the namespace of static pods on KubeVirt'],
  [
    /^openshift-service-cert-signer-.*|^09-openshift-service-cert-signer-namespace\.yaml$/,
    'the authority of services, of the first 4.x',
  ],
  [
    /^(?:haproxy|keepalived|coredns|mdns-publisher)\.yaml$/,
    'a static pod of the on-premises load balancing, run on the bootstrap host',
  ],
  [/^bmc-verify-ca-configmap\.yaml$/, 'the authority behind the management controllers of bare metal'],
  [/^99_kubeadmin-password-secret\.yaml$/, 'the hash of the password of kubeadmin'],
  [/^99_feature-gate\.yaml$/, 'which features are switched on'],
  [
    /^99_openshift-cluster-api_(master|worker|arbiter)-user-data-secret\.yaml$/,
    'the pointer config that new machines boot with',
  ],
  [/^99_openshift-cluster-api_.*machines?-?.*\.yaml$/, 'a machine, or a set of machines, for the machine API to make'],
  [/^99_openshift-cluster-api_.*host-bmc-secrets-.*\.yaml$/, 'credentials of the management controller of a host'],
  [/^99_openshift-cluster-api_.*host-network-config-secrets-.*\.yaml$/, 'network settings of a host'],
  [/^99_openshift-cluster-api_.*hosts-.*\.yaml$/, 'a host of bare metal'],
  [
    /^99_openshift-machine-api_master-control-plane-machine-set\.yaml$/,
    'how machines of the control plane are replaced',
  ],
  [/^99_openshift-machine-api_(?:address|claim)-.*\.yaml$/, 'an address that a machine of vSphere gets'],
  [
    /^99_openshift-etcd_fencing-credentials-secrets-.*\.yaml$/,
    'credentials for switching a lost node of a two-node cluster off',
  ],
  [/^99_openshift-machineconfig_99-(.+)-ssh\.yaml$/, 'your SSH key, for the user core of these machines'],
  [/^99_openshift-machineconfig_.*\.yaml$/, 'a change to the machines of a pool, from the install-config'],
  [/^99_cloud-creds-secret\.yaml$/, 'the credentials that the cluster uses the cloud with'],
  [/^99_role(?:binding)?-cloud-creds-secret-reader\.yaml$/, 'who may read the credentials of the cloud'],
  [/^99_azure-cloud-provider-secret.*\.yaml$/, 'settings of the cloud provider of Azure, and who may read them'],
  [/^99_private-cluster-outbound-service\.yaml$/, 'the way out of a private cluster on Azure'],
  [/^99_baremetal-provisioning-config\.yaml$/, 'how machines of bare metal are installed'],
  [/^99_community_operators\.yaml$/, 'OKD: the catalog of community operators'],
  [/^90[-_]okd-sca-pull-disable\.yaml$/, 'OKD: no entitlements are fetched'],
  [/^openshift-install-manifests\.yaml$/, 'which installer made all this, and who called it'],
  [/^pull\.yaml$/, 'the pull secret of the cluster, of the first 4.x'],
]

/** @param name of the file within its folder; undefined where it is none of the installer's */
export function explainManifest(name: string): string | undefined {
  return known.find(([pattern]) => pattern.test(name))?.[1]
}
