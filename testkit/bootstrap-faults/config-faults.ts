/** Faults of the bootstrap.ign itself: what Ignition refuses, and what systemd, the shell or the cluster would. */
import { sampleTlsAssets } from '../../src/quickstart/sample-bootstrap/tls-assets.ts'
import { type BootstrapFault, hostPaths, nodeImagePull, releaseImagePull } from './bootstrap-fault.ts'

const { bootkube } = hostPaths
const before = { era: '4.16' } as const
const hourMs = 60 * 60 * 1000

const ignitionFaults: readonly BootstrapFault[] = [
  {
    id: 'ignition-cut',
    title: 'The file was cut: it is no JSON',
    section: 'ignition',
    expect: 'ignition.invalid',
    inject: ({ document }) => document.rewrite((text) => text.slice(0, text.length / 2)),
  },
  {
    id: 'ignition-unsupported-version',
    title: 'The specification is one that nobody knows',
    section: 'ignition',
    expect: 'ignition.invalid',
    inject: ({ document }) => document.rewrite((text) => text.replace('"version":"3.2.0"', '"version":"4.0.0"')),
  },
  {
    id: 'ignition-duplicate-path',
    title: 'A file stands in the config twice',
    section: 'ignition',
    expect: 'ignition.invalid',
    inject: ({ document }) => void document.files.push({ ...document.file(bootkube) }),
  },
  {
    id: 'ignition-relative-path',
    title: 'A file has no absolute path',
    section: 'ignition',
    expect: 'ignition.invalid',
    inject: ({ document }) => document.write('etc/chrony.conf', 'server 10.0.0.1\n'),
  },
  {
    id: 'ignition-data-url-broken',
    title: 'The contents of a script are no base64 any more',
    section: 'ignition',
    expect: 'ignition.invalid',
    inject: ({ document }) => {
      const file = document.file(bootkube)
      const source = file.contents?.source ?? ''
      file.contents = { source: `${source.slice(0, -9)}*` }
    },
  },
  {
    id: 'ignition-scheme-unknown',
    title: 'A file is to be fetched by a scheme that Ignition does not have',
    section: 'ignition',
    expect: 'ignition.invalid',
    inject: ({ document }) => {
      document.file(bootkube).contents = { source: 'ftp://mirror.lab.test/bootkube.sh' }
    },
  },
  {
    id: 'ignition-hash-mismatch',
    title: 'A script is not what its hash says',
    section: 'ignition',
    expect: 'ignition.hash-mismatch',
    inject: ({ document }) => {
      const file = document.file(bootkube)
      file.contents = { ...file.contents, verification: { hash: `sha256-${'0'.repeat(64)}` } }
    },
  },
]

const unitFaults: readonly BootstrapFault[] = [
  {
    id: 'unit-syntax',
    title: 'The section of a unit is not closed',
    section: 'units',
    expect: 'rehearse.unit-invalid',
    inject: ({ document }) => document.editUnit('bootkube.service', (text) => text.replace('[Service]', '[Service')),
  },
  {
    id: 'unit-setting',
    title: 'A unit has a value that systemd does not know',
    section: 'units',
    expect: 'rehearse.unit-invalid',
    inject: ({ document }) => document.editUnit('release-image.service', (text) => text.replace('oneshot', 'once')),
  },
  {
    id: 'unit-script-missing',
    title: 'A unit starts a script that is not there',
    section: 'units',
    expect: 'rehearse.script-missing',
    expectedStage: { service: 'bootkube' },
    inject: ({ document }) =>
      document.editUnit('bootkube.service', (text) => text.replace('bootkube.sh', 'bootkube2.sh')),
  },
  {
    id: 'unit-cycle',
    title: 'Two units wait for each other: systemd leaves one of them out',
    section: 'units',
    expect: 'rehearse.unit-cycle',
    inject: ({ document }) =>
      document.editUnit('release-image.service', (text) =>
        text.replace('After=network-online.target', 'After=network-online.target crio-configure.service'),
      ),
  },
]

const scriptFaults: readonly BootstrapFault[] = [
  {
    id: 'script-cut',
    title: 'bootkube.sh ends in the middle of a function',
    section: 'scripts',
    expect: 'rehearse.script-invalid',
    expectedStage: { service: 'bootkube' },
    inject: ({ document }) =>
      document.edit(bootkube, (text) => text.slice(0, text.indexOf('mkdir --parents /etc/mcc'))),
  },
  {
    id: 'script-of-windows',
    title: 'A script has the line ends of Windows',
    section: 'scripts',
    at: before,
    expect: 'rehearse.script-invalid',
    expectedStage: { service: 'release-image' },
    inject: ({ document }) =>
      document.edit('/usr/local/bin/release-image-download.sh', (text) => text.replaceAll('\n', '\r\n')),
  },
  {
    id: 'script-not-executable',
    title: 'bootkube.sh is not executable',
    section: 'scripts',
    expect: 'rehearse.script-not-executable',
    expectedStage: { service: 'bootkube' },
    inject: ({ document }) => {
      document.file(bootkube).mode = 0o644
    },
  },
  {
    id: 'script-library-missing',
    title: 'The library that names images is not there, and every script reads it',
    section: 'scripts',
    expect: 'rehearse.script-missing',
    expectedStage: nodeImagePull,
    inject: ({ document }) => document.remove('/usr/local/bin/release-image.sh'),
  },
  {
    id: 'release-images-differ',
    title: 'One script names another release than the others',
    section: 'scripts',
    at: before,
    expect: 'rehearse.release-images-differ',
    expectedStage: releaseImagePull,
    inject: ({ site, document }) =>
      document.edit('/usr/local/bin/release-image-download.sh', (text) =>
        text.replaceAll(site.release.image.digest, `sha256:${'b'.repeat(64)}`),
      ),
  },
  {
    id: 'script-at-localhost',
    title: 'Scripts were changed to take the release from localhost',
    section: 'anti-pattern',
    expect: 'rehearse.mirror-localhost',
    expectedStage: nodeImagePull,
    inject: ({ site, document }) => {
      for (const name of ['release-image.sh', 'release-image-download.sh'])
        document.edit(`/usr/local/bin/${name}`, (text) =>
          text.replaceAll(site.releaseImage, `localhost:5000/ocp/release@${site.release.image.digest}`),
        )
    },
  },
]

const contentFaults: readonly BootstrapFault[] = [
  {
    id: 'manifest-broken',
    title: 'A manifest of the user is no YAML',
    section: 'manifests',
    expect: 'rehearse.cluster-manifest-invalid',
    inject: ({ document }) =>
      document.write(
        '/opt/openshift/openshift/99-chrony.yaml',
        'apiVersion: v1\nkind: ConfigMap\n metadata:\n\tname: x\n',
      ),
  },
  {
    id: 'manifest-no-object',
    title: 'A manifest of the user is no object of Kubernetes',
    section: 'manifests',
    expect: 'rehearse.cluster-manifest-invalid',
    inject: ({ document }) => document.write('/opt/openshift/openshift/99-notes.yaml', 'remember: to ask for NTP\n'),
  },
  {
    id: 'day-certificate-expired',
    title: 'One certificate is from an earlier run of the installer, and has expired',
    section: '5.4 #5',
    expect: 'rehearse.bootstrap-certificate-expired',
    inject: async ({ site, document }) => {
      const old = await sampleTlsAssets({ seed: 'earlier', notBefore: site.clock.now() - 30 * hourMs })
      for (const name of ['kubelet-signer.crt', 'kubelet-signer.key'])
        document.write(`/opt/openshift/tls/${name}`, old[name] ?? '')
    },
  },
  {
    id: 'trust-of-nodes-missing',
    title: 'The manifests lack the trust bundle: the bootstrap goes well, and no node can pull',
    section: '5.4 #35',
    expect: 'rehearse.trust-drift',
    inject: ({ document }) => document.remove('/opt/openshift/manifests/user-ca-bundle-config.yaml'),
  },
]

export const configFaults: readonly BootstrapFault[] = [
  ...ignitionFaults,
  ...unitFaults,
  ...scriptFaults,
  ...contentFaults,
]
