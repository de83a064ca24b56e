/**
 * What the scripts of a bootstrap config do, in the order in which a boot reaches them.
 *
 * Source: openshift/installer `data/data/bootstrap/{,baremetal/,gcp/,bootstrap-in-place/}files/usr/local/bin`.
 */

const scripts: Readonly<Record<string, string>> = {
  'node-image-pull.sh':
    'pulls the node image (rhel-coreos) of the release, again and again until it is there; first of all since 4.19',
  'node-image-overlay.sh':
    'lays the node image over the running system, which so gets kubelet, CRI-O and oc of the release',
  'release-image-download.sh':
    'pulls the release image, again and again until it is there, and checks its architecture',
  'release-image.sh': 'library: image_for NAME asks the release image which image has this name',
  'bootstrap-service-record.sh': 'library: services note their stages and failures under /var/log/openshift',
  'bootstrap-verify-api-server-urls.sh': 'library: are api and api-int known to DNS, and do they answer',
  'bootstrap-cluster-gather.sh': 'library: collects the resources of the cluster when bootstrapping failed',
  'bootstrap-pivot.sh': 'OKD: puts the system of the release in the place of this one, and reboots',
  'crio-configure.sh': 'tells CRI-O which pause image the release has',
  'kubelet-pause-image.sh': 'tells kubelet which pause image the release has',
  'kubelet.sh': 'runs kubelet alone, for static pods only: it joins no cluster',
  'bootkube.sh':
    'the bootstrap itself: lets every operator render its part, starts the first control plane and hands over to the real one',
  'openshift.sh': 'creates the manifests of openshift/ once the API answers; of 4.2 and before',
  'tectonic.sh': 'creates the manifests of tectonic/ once the API answers; of the first 4.x',
  'approve-csr.sh': 'approves what machines ask certificates for, every 20 seconds, until the bootstrap is done',
  'report-progress.sh': 'tells the installer that the bootstrap is done: ConfigMap kube-system/bootstrap',
  'wait-for-ha-api.sh': 'library: waits until two machines of the control plane have an API server',
  'installer-gather.sh': 'collects logs for `openshift-install gather bootstrap`',
  'installer-masters-gather.sh': 'collects logs on a machine of the control plane, called by installer-gather.sh',
  'bootstrap-in-place.sh': 'single node: makes the config of the machine that this one will become',
  'install-to-disk.sh': 'single node: writes that machine to disk, and reboots into it',
  'build-ironic-env.sh': 'bare metal: settings and images of Ironic',
  'build-metal3-env.sh': 'bare metal: settings and image of the baremetal operator',
  'extract-machine-os.sh': 'bare metal: takes the boot images out of the release, for Ironic to hand out',
  'master-bmh-update.sh':
    'bare metal: hands what was found out about the hosts of the control plane over to the cluster',
  'prov-iptables.sh': 'bare metal: opens the firewall for provisioning',
  'setup-image-data.sh': 'bare metal: settings of the images that hosts boot',
  'start-provisioning-nic.sh': 'bare metal: brings the network of provisioning up',
  'dhcp-filter.sh': 'bare metal: answers DHCP for known hosts only',
  'startironic.sh': 'bare metal: starts Ironic and what it needs; of older installers',
  'stopironic.sh': 'bare metal: stops Ironic; of older installers',
  'coredns.sh': 'on premises: names of the cluster, served here; of the first 4.x',
  'keepalived.sh': 'on premises: holds the VIP of the API; of the first 4.x',
  fletcher8: 'on premises: makes a number for the VIP out of the name of the cluster; of the first 4.x',
  get_vip_subnet_cidr: 'on premises: which network the VIP is in; of the first 4.x',
}

/** @param name of a file of /usr/local/bin; undefined where it is none of the installer's */
export function explainScript(name: string): string | undefined {
  return Object.hasOwn(scripts, name) ? scripts[name] : undefined
}
