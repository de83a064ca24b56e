/**
 * Which images of a release the bootstrap host itself pulls, by version.
 *
 * Source: openshift/installer `data/data/bootstrap/files/usr/local/bin/{bootkube,crio-configure,kubelet-pause-image,
 * node-image-pull}.sh.template`, the names that `image_for` is asked for, in the branch of each version. On the platforms that
 * bring their own load balancer, static pods of the machine config operator run four more
 * (openshift/machine-config-operator `manifests/on-prem`); on bare metal the host also runs Ironic (`build-ironic-env.sh` and
 * `build-metal3-env.sh` in the installer's `data/data/bootstrap/baremetal`).
 */

export interface BootstrapImages {
  /** Names of components; the release image itself is always needed too. */
  readonly names: readonly string[]
  /** The version whose list this is: the nearest one that is known. */
  readonly knownFor: string
}

export interface BootstrapOptions {
  /** As install-config names it: `vsphere`, `baremetal`, `aws`, … */
  readonly platform?: string | undefined
}

const always = [
  'machine-config-operator',
  'etcd',
  'pod',
  'cluster-etcd-operator',
  'cluster-config-operator',
  'cluster-kube-apiserver-operator',
  'cluster-kube-controller-manager-operator',
  'cluster-kube-scheduler-operator',
  'cluster-ingress-operator',
  'cloud-credential-operator',
  'hyperkube',
  'cluster-policy-controller',
  'cluster-bootstrap',
]
/** keepalived, CoreDNS and HAProxy for the virtual addresses of the cluster. */
const onPremises = ['keepalived-ipfailover', 'coredns', 'haproxy-router', 'baremetal-runtimecfg']
const platformsOnPremises = new Set(['baremetal', 'nutanix', 'openstack', 'ovirt', 'vsphere'])

const ironic = [
  'ironic',
  'ironic-agent',
  'machine-image-customization-controller',
  'machine-os-images',
  'baremetal-operator',
]

/** What comes with a minor version of 4, and what goes with one. */
interface Change {
  readonly name: string
  readonly from: number
  /** The last one that has it. */
  readonly to?: number
}

const oldestKnown = 8
const newestKnown = 22

const changes: readonly Change[] = [
  { name: 'machine-os-content', from: oldestKnown, to: 14 },
  { name: 'mdns-publisher', from: oldestKnown, to: 8 },
  ...onPremises.map((name) => ({ name, from: oldestKnown, to: 13 })),
  { name: 'cluster-node-tuning-operator', from: 13 },
  { name: 'cluster-config-api', from: 16 },
  { name: 'cluster-authentication-operator', from: 19 },
  // The host boots without the tools that it needs, and takes them from this image.
  { name: 'rhel-coreos', from: 19 },
  // As it is called in OKD.
  { name: 'stream-coreos', from: 19 },
]

/** @param version of the release; what comes after the newest known one is taken to need the same */
export function bootstrapImages(version: string, { platform }: BootstrapOptions = {}): BootstrapImages {
  const [, major = '4', minor = ''] = /^(\d+)\.(\d+)\./.exec(version) ?? []
  const asked = Number(major) > 4 || minor === '' ? newestKnown : Number(minor)
  const known = Math.min(newestKnown, Math.max(oldestKnown, asked))
  const byVersion = changes.filter(({ from, to = newestKnown }) => from <= known && known <= to)
  const ofPlatform = platform !== undefined && platformsOnPremises.has(platform) ? onPremises : []
  const ofMetal = platform === 'baremetal' ? ironic : []
  const names = [...always, ...byVersion.map(({ name }) => name), ...ofPlatform, ...ofMetal]
  return { names: [...new Set(names)].sort(), knownFor: `4.${known}` }
}
