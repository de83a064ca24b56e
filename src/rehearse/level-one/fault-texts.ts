/** What each reason for a pull that fails is called, what it says, and what to do about it. The only place for these words. */

import type { ServerCertificate } from './level-one-report.ts'
import type { CauseKind } from './pull-causes.ts'

/** What the words are made from. */
export interface CauseView {
  /** `mirror.lab:8443` */
  readonly host: string
  /** `mirror.lab` */
  readonly name: string
  readonly place: string
  /** `17 images from the bootstrap host and 190 from the nodes: etcd, pod, …` */
  readonly kept: string
  /** `etcd`, `23 images (etcd, pod, …)` */
  readonly named: string
  /** `the bootstrap host and the nodes` */
  readonly askers: string
  /** As podman says it. */
  readonly message: string
  readonly addresses: readonly string[]
  readonly certificate?: ServerCertificate
  readonly proxy?: string
  /** Keys of the pull secret. */
  readonly credentialHosts: readonly string[]
  /** Subjects of the authorities that are trusted. */
  readonly authorities: readonly string[]
  /** One of the images, as it is asked for, and where it was looked for. */
  readonly source: string
  readonly target: string
  readonly isOnlyNodes: boolean
}

export interface FaultText {
  readonly id: string
  /** True where what it says names the images already. */
  readonly isOfImages?: true
  /** Where only nodes meet it: what they get is then not what the bootstrap host has. */
  readonly idOfNodes?: string
  readonly says: (view: CauseView) => string
  readonly next: (view: CauseView) => string
  /** Which part of the config the evidence points at. Default: the line that names the registry. */
  readonly about?: 'trust' | 'credentials' | 'proxy'
}

export const faultTexts: Readonly<Record<CauseKind, FaultText>> = {
  'name-unresolved': {
    id: 'rehearse.name-unresolved',
    says: ({ name }) => `${name} has no address: neither the hosts file of the config nor DNS here knows the name`,
    next: ({ name }) =>
      `Put ${name} into the DNS that the machines will ask. Where only this machine does not know it, say where it is: --via ${name}=ADDRESS. Without DNS: sallyport ignition patch FILE --host ${name}=ADDRESS -o PATCHED, and the same for nodes with --machine-configs.`,
  },
  refused: {
    id: 'rehearse.refused',
    says: ({ host, addresses }) => `nothing listens at ${host}${at(addresses)}: the connection is refused`,
    next: ({ host }) => `Start the registry, or correct its port in the mirrors. Try it: curl -v https://${host}/v2/`,
  },
  unreachable: {
    id: 'rehearse.unreachable',
    says: ({ host, addresses }) => `there is no way to ${host}${at(addresses)}`,
    next: ({ host }) => `Check address and route, and what the firewall lets through: curl -v https://${host}/v2/`,
  },
  timeout: {
    id: 'rehearse.timeout',
    says: ({ host, addresses }) => `${host}${at(addresses)} does not answer in time`,
    next: ({ host }) =>
      `Look for a firewall or security group that drops the packets, and at the load of the registry: curl -v --max-time 30 https://${host}/v2/. Where it is only slow, give it longer: --timeout 60s.`,
  },
  'ca-unknown': {
    id: 'rehearse.ca-unknown',
    idOfNodes: 'rehearse.trust-drift',
    about: 'trust',
    says: ({ host, certificate, authorities, isOnlyNodes }) => {
      const issuer = certificate === undefined ? '' : `, which ${certificate.issuer} issued`
      const who = isOnlyNodes ? 'that the nodes get' : 'of the config'
      const trusted = authorities.length === 0 ? 'it has none' : `it has ${listed(authorities)}`
      return `no authority in the trust bundle ${who} vouches for the certificate of ${host}${issuer}: ${trusted}`
    },
    next: ({ host, isOnlyNodes }) =>
      isOnlyNodes
        ? 'Nodes trust the ConfigMap user-ca-bundle of openshift-config, in manifests/user-ca-bundle-config.yaml: it must have what the bootstrap host has. Put the CA into additionalTrustBundle of install-config.yaml, and make the manifests anew; or give nodes a MachineConfig: sallyport ignition patch FILE --trust ca.pem --machine-configs openshift.'
        : `Put the CA that issued it (not the certificate of the registry itself) into additionalTrustBundle of install-config.yaml, and make the Ignition configs anew; or into this one: sallyport ignition patch FILE --trust ca.pem -o PATCHED. What the registry shows: openssl s_client -connect ${withPort(host)} -showcerts </dev/null`,
  },
  'certificate-name': {
    id: 'rehearse.certificate-name',
    says: ({ host, name, certificate }) =>
      `the certificate of ${host} is for ${listed(certificate?.names ?? [])}, and not for ${name}`,
    next: ({ name }) =>
      `Issue a certificate that has ${name} in its subjectAltName, or name the mirror in imageDigestSources as the certificate does.`,
  },
  'certificate-no-san': {
    id: 'rehearse.certificate-no-san',
    says: ({ host, certificate }) =>
      `the certificate of ${host}${certificate === undefined ? '' : ` (${certificate.subject})`} has no subjectAltName, and a common name counts no more`,
    next: ({ name }) => `Issue it anew with a subjectAltName: openssl req … -addext subjectAltName=DNS:${name}`,
  },
  'certificate-expired': {
    id: 'rehearse.certificate-expired',
    says: ({ host, certificate }) => `the certificate of ${host} has expired${on(certificate?.notAfter)}`,
    next: ({ host }) =>
      `Issue it anew with the same CA, and restart the registry. If it has not expired, the clock of this machine is wrong: date -u; curl -sI https://${host}/v2/ | grep -i ^date`,
  },
  'certificate-not-yet-valid': {
    id: 'rehearse.certificate-not-yet-valid',
    says: ({ host, certificate }) =>
      `the certificate of ${host} is not valid yet${certificate === undefined ? '' : `: it begins ${certificate.notBefore}`}`,
    next: () =>
      'A clock is behind: compare date -u here, on the registry, and on the hypervisor that gives its time to the bootstrap host. Give hosts a time server: sallyport ignition patch FILE --ntp SERVER -o PATCHED.',
  },
  'plain-http': {
    id: 'rehearse.plain-http',
    says: ({ host }) => `${host} speaks plain HTTP, and is asked for TLS`,
    next: () =>
      'Give the registry a certificate. The installer writes insecure = false always; only a drop-in of registries.conf can say otherwise, for the bootstrap host and the nodes, and then anybody on the way can put images into the cluster.',
  },
  tls: {
    id: 'rehearse.tls',
    says: ({ host, message }) => `no TLS connection with ${host}: ${message}`,
    next: ({ host }) => `Try it: openssl s_client -connect ${withPort(host)} -tls1_2`,
  },
  proxy: {
    id: 'rehearse.proxy',
    about: 'proxy',
    says: ({ host, proxy, message }) => `the proxy ${proxy ?? ''} keeps ${host} away: ${message}`,
    next: ({ name }) => `A mirror needs no proxy: add ${name} to proxy.noProxy of install-config.yaml.`,
  },
  'not-a-registry': {
    id: 'rehearse.not-a-registry',
    says: ({ host, message }) => `${host} answers, and is no registry: ${message}`,
    next: ({ host }) =>
      `Check the port, and whether a proxy or a login page stands before it: curl -v https://${host}/v2/ must answer 200 or 401.`,
  },
  'credentials-missing': {
    id: 'rehearse.credentials-missing',
    idOfNodes: 'rehearse.pull-secret-drift',
    about: 'credentials',
    says: ({ host, name, credentialHosts, isOnlyNodes }) => {
      const near = credentialHosts.find((key) => key.split(/[:/]/)[0] === name)
      const has = near === undefined ? '' : `; it has one for ${near}, and the port counts`
      const secret = isOnlyNodes ? 'the pull secret that nodes get' : 'the pull secret'
      return `${host} asks for a password, and ${secret} has no entry for ${host}${has}`
    },
    next: ({ host }) =>
      `Add the key "${host}", exactly so, to pullSecret of install-config.yaml, and make the Ignition configs anew: podman login --authfile pull-secret.json ${host} writes it.`,
  },
  'credentials-refused': {
    id: 'rehearse.credentials-refused',
    idOfNodes: 'rehearse.pull-secret-drift',
    about: 'credentials',
    says: ({ host }) => `${host} refuses the user and password that the pull secret has for it`,
    next: ({ host }) =>
      `Log in by hand, and put what works into pullSecret of install-config.yaml: podman login --authfile pull-secret.json ${host}`,
  },
  denied: {
    id: 'rehearse.denied',
    about: 'credentials',
    says: ({ place }) => `the user of the pull secret may not read ${place}`,
    next: ({ place }) => `Give that user the right to pull from ${place}.`,
  },
  'manifest-missing': {
    id: 'rehearse.manifest-missing',
    isOfImages: true,
    says: ({ place, named }) => `${place} does not have ${named}`,
    next: ({ source, target }) =>
      `Mirror the release again, and compare the path with the one it was mirrored to: the mirrors must name that very repository. One image alone: oc image mirror --keep-manifest-list=true ${source} ${target}`,
  },
  'config-missing': {
    id: 'rehearse.config-missing',
    isOfImages: true,
    says: ({ place, named }) => `${place} has the manifest, and not the config, of ${named}`,
    next: remirror,
  },
  'layer-missing': {
    id: 'rehearse.layer-missing',
    isOfImages: true,
    says: ({ place, named }) => `${place} has the manifest, and not all layers, of ${named}`,
    next: remirror,
  },
  'content-damaged': {
    id: 'rehearse.content-damaged',
    isOfImages: true,
    says: ({ place, named }) => `what ${place} sends of ${named} is not what the digests say`,
    next: () =>
      'Check the disk of the registry and what lies between (a proxy that rewrites?), delete these images there, and mirror the release again.',
  },
  'registry-failing': {
    id: 'rehearse.registry-failing',
    says: ({ host, message }) => `${host} is in trouble: ${message}`,
    next: () => 'Look at the log of the registry and at its disk (df -h), and rehearse again.',
  },
  'rate-limited': {
    id: 'rehearse.rate-limited',
    says: ({ host }) => `${host} asks for fewer requests: six machines that install at once will ask for more`,
    next: ({ host }) => `Raise the limit of ${host} for the time of the installation.`,
  },
  blocked: {
    id: 'rehearse.blocked',
    says: ({ place }) => `${place} is blocked in registries.conf: where its mirrors fail there is nowhere else`,
    next: () =>
      'See to the mirror that fails. Where the source is to stay in reach, leave sourcePolicy: NeverContactSource out of imageDigestSources.',
  },
  outside: {
    id: 'rehearse.source-uncovered',
    says: ({ place }) => `no mirror covers ${place}: it would be asked for at ${place.split('/')[0]} itself`,
    next: ({ place, isOnlyNodes }) =>
      isOnlyNodes
        ? `Add ${place} with its mirror to an ImageDigestMirrorSet in manifests/, or to imageDigestSources of install-config.yaml.`
        : `Add it to imageDigestSources of install-config.yaml: {source: ${place}, mirrors: [MIRROR/REPOSITORY]}. A payload needs two: its release image, and its components. Where ${place.split('/')[0]} can be reached: --connected.`,
  },
  'no-mirror': {
    id: 'rehearse.no-mirror',
    says: ({ place }) => `registries.conf has no mirror at all: every image would be asked for at ${place} itself`,
    next: () =>
      'Put the mirrors into imageDigestSources of install-config.yaml (sallyport mirror prints them), and make the Ignition configs anew. For a cluster with a way to the Internet: --connected.',
  },
  'tag-reference': {
    id: 'rehearse.tag-reference',
    says: ({ source }) =>
      `${source} has a tag and no digest, and mirrors are for digests only: it would be asked for outside`,
    next: () =>
      'Make the Ignition configs with a digest: OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=…@sha256:… openshift-install create ignition-configs.',
  },
  'platform-missing': {
    id: 'rehearse.architecture',
    isOfImages: true,
    says: ({ place, named, message }) => `${place} has ${named} for other architectures: ${message}`,
    next: () =>
      'Mirror the release for the architecture of the control plane, or say which one it is: --architecture arm64.',
  },
  rewrite: {
    id: 'rehearse.reference-rewrite',
    says: ({ message }) => message,
    next: () => 'Correct the location in that entry of registries.conf: podman gives up without asking anybody.',
  },
  other: {
    id: 'rehearse.pull-failed',
    says: ({ place, message }) => `${place}: ${message}`,
    next: ({ host }) => `Try it by hand: curl -v https://${host}/v2/`,
  },
}

function remirror({ source, target }: CauseView): string {
  return `The mirroring broke off, or the disk of the registry is full. Mirror the release again; one image alone: oc image mirror --force --keep-manifest-list=true ${source} ${target}`
}

function at(addresses: readonly string[]): string {
  return addresses.length === 0 ? '' : ` (${addresses.join(', ')})`
}

function on(time: string | undefined): string {
  return time === undefined ? '' : `: it ended ${time}`
}

/** At most four of them. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 4).join(', ')
  return names.length > 4 ? `${shown} and ${names.length - 4} more` : shown
}

function withPort(host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:443`
}
