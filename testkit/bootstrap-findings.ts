/**
 * The findings that a rehearsal of a bootstrap must be able to name, one for each kind of fault that has a remedy of its
 * own. `testkit/bootstrap-faults.ts` injects the faults; on a sound site none of these is said.
 */
export const bootstrapFindings = {
  // The way to the mirror.
  'rehearse.name-unresolved': 'a mirror has a name that is not resolved',
  'rehearse.refused': 'nothing listens on the port of the mirror',
  'rehearse.timeout': 'the mirror takes the connection and does not answer',
  'rehearse.plain-http': 'the mirror speaks plain HTTP, and the bootstrap host asks for TLS',
  'rehearse.not-a-registry': 'a page answers in the place of a registry',
  'rehearse.registry-failing': 'the registry answers with a status of 500 or above',
  'rehearse.rate-limited': 'the registry answers 429',
  'rehearse.proxy': 'a proxy stands in the way and refuses',
  'rehearse.no-proxy-missing': 'there is a proxy, and noProxy does not name the mirror',

  // Whom it trusts.
  'rehearse.ca-unknown': 'no authority of the trust bundle vouches for the mirror',
  'rehearse.certificate-name': 'the certificate of the mirror is for other names',
  'rehearse.certificate-no-san': 'the certificate of the mirror has a common name and no subjectAltName',
  'rehearse.certificate-expired': 'the certificate of the mirror has expired',
  'rehearse.certificate-not-yet-valid': 'the certificate of the mirror is not valid yet',
  'rehearse.trust-bundle-invalid': 'the trust bundle is no PEM, or has text after its last certificate',
  'rehearse.trust-drift': 'the trust bundle of the bootstrap host is not that which nodes will have',
  'rehearse.trust-bundle-no-ca': 'a certificate of the trust bundle is no authority: update-ca-trust leaves it out',

  // Who it says it is.
  'rehearse.pull-secret-invalid': 'the pull secret is no JSON, or has no auths',
  'rehearse.credentials-missing':
    'the pull secret has nothing for the host and port of the mirror, which asks for a password',
  'rehearse.credentials-refused': 'the mirror refuses the password of the pull secret',

  'rehearse.denied': 'the mirror knows the account of the pull secret, and it may not read the repository',
  'rehearse.pull-secret-drift': 'the pull secret that nodes will have lacks the mirror',

  // What the mirror has.
  'rehearse.manifest-missing': 'the mirror does not have an image that is asked for',
  'rehearse.config-missing': 'the mirror has the manifest of an image and not its config',
  'rehearse.layer-missing': 'the mirror has the manifest of an image and not all its layers',
  'rehearse.content-damaged': 'what the mirror sends is not what its digest says, or breaks off',
  'rehearse.signature-missing':
    'the release image has no signature tag (.sig) in the mirror, and this version asks for it',
  'rehearse.architecture': 'the payload is for another architecture than the control plane',

  // Where it looks.
  'registries.conf-invalid': 'containers/image refuses registries.conf, and with it every pull',
  'rehearse.registries-mode': 'registries.conf is for root alone: rpm-ostree cannot read it',
  'rehearse.no-mirror': 'registries.conf has no mirror at all',
  'rehearse.source-uncovered': 'no entry of registries.conf covers an image: it would be asked for outside',
  'rehearse.tag-reference': 'the release image has a tag and no digest, and mirrors are for digests only',
  'rehearse.blocked': 'the source is blocked and no mirror has the image: there is nowhere else',
  'rehearse.mirror-localhost': 'a mirror at localhost: on the bootstrap host that is the bootstrap host',
  'rehearse.mirror-insecure': 'a mirror with insecure = true: anybody on the way can put images into the cluster',
  'rehearse.hosts-entry': '/etc/hosts sends the name of a public registry to the mirror',
  'rehearse.mirrors-drift': 'the mirrors of the bootstrap host are not those that nodes will have',

  // Names and time.
  'rehearse.api-unresolved': 'api.CLUSTER is not resolved',
  'rehearse.api-int-unresolved': 'api-int.CLUSTER is not resolved',
  'rehearse.clock-skew': 'the clock here and the Date of the mirror are apart',
  'rehearse.bootstrap-certificate-expired': 'a certificate in the bootstrap.ign has expired: those of a day first',
  'rehearse.bootstrap-certificate-not-yet-valid': 'a certificate in the bootstrap.ign is not valid yet',

  // The config itself.
  'ignition.invalid': 'Ignition refuses the config',
  'ignition.hash-mismatch': 'a file is not what its hash says: Ignition stops the boot',
  'rehearse.unit-invalid': 'systemd does not understand a unit',
  'rehearse.unit-cycle': 'units wait for each other in a circle',
  'rehearse.script-missing': 'a unit or a script calls a script that the config does not have',
  'rehearse.script-invalid': 'the shell does not understand a script',
  'rehearse.script-not-executable': 'a unit starts a script that is not executable',
  'rehearse.release-images-differ': 'scripts name different release images',
  'rehearse.cluster-manifest-invalid': 'a manifest of the cluster is no YAML, or no object of Kubernetes',
} as const

export type BootstrapFindingId = keyof typeof bootstrapFindings
