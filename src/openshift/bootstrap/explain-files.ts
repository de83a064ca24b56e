/** What each file of a bootstrap config is for, for every installer and platform, and what files of node configs are. */
import { explainManifest } from './explain-manifests.ts'
import { explainScript } from './explain-scripts.ts'
import { explainTls } from './explain-tls.ts'
import { explainUnit } from './explain-units.ts'
import type { Manifest } from './manifests.ts'

/** In the order in which people look for them. */
export const fileGroups = [
  'trust',
  'configuration',
  'scripts',
  'units',
  'tls',
  'access',
  'manifests',
  'platform',
  'other',
] as const

export type FileGroup = (typeof fileGroups)[number]

export interface FileExplanation {
  readonly group: FileGroup
  /** One line, without a capital and a full stop. */
  readonly text: string
  /** True where it is none of the installer's: somebody added it. */
  readonly isAdded: boolean
}

/** @param manifests those of the config: what a file that somebody added holds */
export function explainFile(path: string, manifests: readonly Manifest[]): FileExplanation {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const directory = path.slice(0, path.lastIndexOf('/'))
  if (/^\/opt\/openshift\/(?:manifests|openshift)$/.test(directory)) return manifestFile(path, name, manifests)
  if (directory === '/usr/local/bin') return toldAs('scripts', explainScript(name), 'a program that somebody added')
  if (/^\/opt\/openshift\/tls(?:\/.*)?$/.test(directory)) {
    const own = path.slice('/opt/openshift/tls/'.length)
    return toldAs('tls', explainTls(own) ?? explainTls(name), 'a certificate or key that somebody added')
  }
  const unit = /^\/etc\/systemd\/system\/([^/]+\.[a-z]+)$/.exec(path)?.[1]
  if (unit !== undefined) {
    const { text, isAdded } = explainUnit(unit, undefined)
    return { group: 'units', text: isAdded ? 'a unit' : text, isAdded }
  }
  const [, group, text] = places.find(([pattern]) => pattern.test(path)) ?? []
  if (group !== undefined && text !== undefined) return { group, text, isAdded: false }
  const [, addedGroup, addedText] = usualAdditions.find(([pattern]) => pattern.test(path)) ?? []
  return {
    group: addedGroup ?? 'other',
    text: addedText ?? 'not one of the installer’s: somebody added it',
    isAdded: true,
  }
}

function toldAs(group: FileGroup, text: string | undefined, added: string): FileExplanation {
  return { group, text: text ?? added, isAdded: text === undefined }
}

function manifestFile(path: string, name: string, manifests: readonly Manifest[]): FileExplanation {
  const text = explainManifest(name)
  if (text !== undefined) return { group: 'manifests', text, isAdded: false }
  const held = manifests.filter((manifest) => manifest.path === path).map(({ kind, name: own }) => `${kind} ${own}`)
  const what = held.length === 0 ? 'no manifest' : held.slice(0, 3).join(', ')
  const more = held.length > 3 ? ` and ${held.length - 3} more` : ''
  return { group: 'manifests', text: `added: ${what}${more}`, isAdded: true }
}

/**
 * Source: openshift/installer `data/data/bootstrap`, by platform, and `pkg/asset/ignition/bootstrap/common.go`.
 */
const places: readonly (readonly [path: RegExp, group: FileGroup, text: string])[] = [
  [/^\/etc\/containers\/registries\.conf$/, 'configuration', 'mirrors of the bootstrap host, from the install-config'],
  [
    /^\/etc\/pki\/ca-trust\/source\/anchors\/ca\.crt$/,
    'trust',
    'the additional trust bundle: whom this host trusts beside the public authorities',
  ],
  [/^\/root\/\.docker\/config\.json$/, 'trust', 'the pull secret: the only credentials that this host has'],
  [/^\/etc\/ignition-machine-config-encapsulated\.json$/, 'configuration', 'whether this host runs in FIPS mode'],
  [/^\/etc\/motd$/, 'configuration', 'a hint at login: which journals to follow'],
  [/^\/etc\/hostname$/, 'configuration', 'the name of this host'],
  [/^\/etc\/profile\.d\/proxy\.sh$/, 'configuration', 'proxies for people who log in'],
  [/^\/etc\/systemd\/system\.conf\.d\/10-default-env\.conf$/, 'configuration', 'proxies for every service'],
  [
    /^\/etc\/systemd\/system\.conf\.d\/10-default-env-godebug\.conf$/,
    'configuration',
    'lets programs accept certificates that name their host only as common name; of 4.6 to 4.9',
  ],
  [
    /^\/etc\/systemd\/system-generators\/node-image-overlay-generator$/,
    'units',
    'decides at boot: without oc of the release the node image comes first',
  ],
  [/^\/etc\/zincati\/config\.d\/90-disable-feature\.toml$/, 'configuration', 'Fedora CoreOS: no updates of its own'],
  [/^\/home\/core\/\.bash_history$/, 'configuration', 'commands that are of use here, for whoever logs in'],
  [/^\/opt\/openshift\/auth\/kubeconfig$/, 'access', 'the administrator’s access, by api-int'],
  [/^\/opt\/openshift\/auth\/kubeconfig-kubelet$/, 'access', 'what machines join with'],
  [/^\/opt\/openshift\/auth\/kubeconfig-loopback$/, 'access', 'the administrator’s access to the API on this host'],
  [/^\/opt\/openshift\/auth\/kubeconfig-admin$/, 'access', 'the administrator’s access, by api'],
  [
    /^\/opt\/openshift\/original_cvo_overrides\.patch$/,
    'configuration',
    'what the ClusterVersion gets back at the end of the bootstrap',
  ],
  [/^\/opt\/openshift\/bootstrap-in-place\//, 'platform', 'single node: what this machine does after its reboot'],
  [/^\/opt\/openshift\/bmc-ca\//, 'trust', 'bare metal: the authority behind the management controllers'],
  [/^\/opt\/tectonic\//, 'manifests', 'overrides of the first 4.x'],
  [
    /^\/etc\/NetworkManager\/dispatcher\.d\/30-local-dns-prepender$/,
    'platform',
    'puts this host itself first among the name servers, where names of the cluster are served here',
  ],
  [
    /^\/etc\/NetworkManager\/conf\.d\/(?:99-(?:baremetal|nutanix|openstack|ovirt|vsphere|kubevirt)|dhcp-client)\.conf$/,
    'platform',
    'NetworkManager leaves the list of name servers to the dispatcher',
  ],
  [/^\/etc\/NetworkManager\/conf\.d\/02-ipv6\.conf$/, 'platform', 'how this host gets IPv6 addresses on OpenStack'],
  [
    /^\/etc\/NetworkManager\/system-connections\/nmconnection$|^\/etc\/NetworkManager\/system-connections\//,
    'platform',
    'the network of this host',
  ],
  [/^\/etc\/dhcp\/dhclient\.conf$/, 'platform', 'which name servers this host asks first'],
  [/^\/etc\/(?:coredns|keepalived)\//, 'platform', 'names and VIP of the cluster, kept by this host; of the first 4.x'],
  [/^\/etc\/kubernetes\/static-pod-resources\//, 'platform', 'a template of the on-premises load balancing'],
  [
    /^\/etc\/containers\/systemd\/ironic-httpd\.container$/,
    'platform',
    'bare metal: the web server that hosts boot from',
  ],
  [/^\/etc\/containers\/systemd\/ironic-dnsmasq\.container$/, 'platform', 'bare metal: DHCP and TFTP of provisioning'],
  [
    /^\/etc\/containers\/systemd\/ironic-inspector\.container$/,
    'platform',
    'bare metal: finds out what a host is made of',
  ],
  [
    /^\/etc\/containers\/systemd\/ironic-ramdisk-logs\.container$/,
    'platform',
    'bare metal: logs of hosts that are being installed',
  ],
  [
    /^\/etc\/containers\/systemd\/ironic\.(?:container|volume)$/,
    'platform',
    'bare metal: Ironic, which installs hosts, and its disk',
  ],
  [
    /^\/etc\/containers\/systemd\/image-customization\.container$/,
    'platform',
    'bare metal: boot images, made for each host',
  ],
  [
    /^\/etc\/containers\/systemd\/metal3-baremetal-operator\.container$/,
    'platform',
    'bare metal: the operator that drives Ironic',
  ],
  [/^\/etc\/(?:ironic|ironic-network|metal3)\.env$/, 'platform', 'bare metal: settings of provisioning'],
  [/^\/opt\/metal3\/auth\//, 'platform', 'bare metal: credentials of Ironic'],
]

/** What people put into configs, and what the machine config operator writes to nodes. */
const usualAdditions: readonly (readonly [path: RegExp, group: FileGroup, text: string])[] = [
  [
    /^\/etc\/containers\/registries\.conf\.d\/[^/]+\.conf$/,
    'configuration',
    'mirrors: a drop-in, read after registries.conf; an entry of it replaces one with the same prefix',
  ],
  [
    /^\/etc\/pki\/ca-trust\/source\/(?:anchors\/)?[^/]+$/,
    'trust',
    'a certificate authority that the whole machine trusts',
  ],
  [/^\/etc\/(?:containers|docker)\/certs\.d\//, 'trust', 'a certificate authority for one registry'],
  [/^\/etc\/containers\/(?:policy\.json|registries\.d\/)/, 'trust', 'whose signatures images need'],
  [/^\/var\/lib\/kubelet\/config\.json$/, 'trust', 'the pull secret of the node'],
  [/^\/etc\/hosts$/, 'configuration', 'names that this machine knows without DNS'],
  [/^\/etc\/(?:chrony\.conf|chrony\/|chrony\.d\/)/, 'configuration', 'which time servers are asked'],
  [/^\/etc\/resolv\.conf$|^\/etc\/systemd\/resolved\.conf/, 'configuration', 'which name servers are asked'],
  [/^\/etc\/sysctl\.d\//, 'configuration', 'settings of the kernel'],
  [/^\/etc\/modules-load\.d\/|^\/etc\/modprobe\.d\//, 'configuration', 'modules of the kernel'],
  [/^\/etc\/sysconfig\//, 'configuration', 'settings of a service'],
  [/^\/etc\/ssh\//, 'configuration', 'settings of SSH'],
  [/^\/etc\/sudoers/, 'configuration', 'who may become root'],
  [/^\/etc\/crio\//, 'configuration', 'settings of CRI-O'],
  [
    /^\/etc\/kubernetes\/(?:kubelet\.conf|kubelet-plugins|kubelet-ca\.crt|ca\.crt|manifests\/|cloud\.conf)/,
    'configuration',
    'settings of kubelet',
  ],
  [
    /^\/etc\/(?:mcs-machine-config-content\.json|machine-config-daemon\/|ignition-machine-config-)/,
    'configuration',
    'what the machine config operator knows this machine by',
  ],
  [/^\/etc\/systemd\/system\/[^/]+\.d\/[^/]+\.conf$/, 'units', 'a change to a unit'],
  [/^\/etc\/systemd\/(?:system|user)\//, 'units', 'a unit'],
  [/^\/etc\/NetworkManager\//, 'platform', 'settings of the network'],
  [/^\/etc\/profile\.d\//, 'configuration', 'settings for people who log in'],
  [/^\/usr\/local\/(?:bin|sbin)\//, 'scripts', 'a program'],
  [/^\/(?:home|root)\//, 'other', 'a file of a user'],
]
