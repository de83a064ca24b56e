/**
 * What each unit of a bootstrap config does.
 *
 * Source: openshift/installer `data/data/bootstrap/systemd`, and `systemd` of each platform.
 */

const units: Readonly<Record<string, string>> = {
  'node-image-pull.service': 'pulls the node image of the release; comes first since 4.19, and tries without end',
  'node-image-overlay.service': 'lays the node image over the running system',
  'node-image-finish.service': 'goes on to what a boot would have started without the node image',
  'node-image-overlay.target': 'what the host boots into first, until the node image is in place',
  'var-ostreecontainer.mount': 'room in memory for the node image, on a host that runs from a live image',
  'var-ostree\\x2dcontainer.mount': 'room in memory for the node image, on a host that runs from a live image',
  'release-image.service': 'pulls the release image, and tries without end',
  'release-image-pivot.service': 'OKD: puts the system of the release in the place of this one, and reboots',
  'crio-configure.service': 'gives CRI-O the pause image of the release, before it starts',
  'kubelet.service': 'runs the static pods of the first control plane',
  'bootkube.service': 'the bootstrap: renders, starts the first control plane, waits for the real one',
  'openshift.service': 'creates the manifests of openshift/; of 4.2 and before',
  'tectonic.service': 'creates the manifests of tectonic/; of the first 4.x',
  'approve-csr.service': 'approves the certificates of machines that join',
  'progress.service': 'tells the installer when the bootstrap is done',
  'chown-gatewayd-key.service': 'lets the journal server read its key',
  'systemd-journal-gatewayd.socket': 'the journal over HTTPS, port 19531, for who has a client certificate',
  'systemd-journal-gatewayd.service': 'the journal over HTTPS: its certificates',
  'zincati.service': 'Fedora CoreOS’ updates of itself: kept off here',
  'openshift-gcp-routes.service': 'Google Cloud: routes to the load balancers of the cluster',
  'install-to-disk.service': 'single node: writes the machine to disk, and reboots into it',
  'build-ironic-env.service': 'bare metal: settings of Ironic',
  'build-metal3-env.service': 'bare metal: settings of the baremetal operator',
  'extract-machine-os.service': 'bare metal: boot images out of the release',
  'provisioning-interface.service': 'bare metal: the network of provisioning',
  'master-bmh-update.service': 'bare metal: hands the hosts of the control plane over to the cluster',
  'wait-iptables-init.service': 'bare metal: waits until the firewall is set up',
  'ironic.service': 'bare metal: Ironic and what it needs; of older installers',
  'coredns.service': 'on premises: names of the cluster; of the first 4.x',
  'keepalived.service': 'on premises: the VIP of the API; of the first 4.x',
}

export interface UnitExplanation {
  readonly text: string
  /** True where it is none of the installer's: somebody added it. */
  readonly isAdded: boolean
}

/** @param description what the unit says of itself, for those that nobody here knows */
export function explainUnit(name: string, description: string | undefined): UnitExplanation {
  const text = Object.hasOwn(units, name) ? units[name] : undefined
  if (text !== undefined) return { text, isAdded: false }
  return { text: description === undefined ? 'added' : `added: ${description}`, isAdded: true }
}
