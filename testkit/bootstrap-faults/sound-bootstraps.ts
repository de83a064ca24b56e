/** Bootstraps that look unlike each other and are all in order: of none of them may a rehearsal say an error or a warning. */
import { mirrorName, pullSecretFor } from '../bootstrap-site.ts'
import { makeSiteAuthority } from '../site-certificates.ts'
import { type BootstrapFault, hostPaths } from './bootstrap-fault.ts'

export type SoundBootstrap = Pick<BootstrapFault, 'id' | 'title' | 'at'> & Partial<Pick<BootstrapFault, 'inject'>>

const { registries, trustBundle, pullSecret } = hostPaths
const idms = '/opt/openshift/manifests/image-digest-mirror-set.yaml'
const userBundle = '/opt/openshift/manifests/user-ca-bundle-config.yaml'
const nodePullSecret = '/opt/openshift/manifests/openshift-config-secret-pull-secret.yaml'

export const soundBootstraps: readonly SoundBootstrap[] = [
  { id: 'era-4.14', title: 'A bootstrap of 4.14', at: { era: '4.14' } },
  { id: 'era-4.16', title: 'A bootstrap of 4.16', at: { era: '4.16' } },
  { id: 'era-4.19', title: 'A bootstrap of 4.19', at: { era: '4.19' } },
  { id: 'era-4.21', title: 'A bootstrap of 4.21' },
  { id: 'whole', title: 'A release with 190 components', at: { components: 'whole' } },
  { id: 'aws', title: 'AWS', at: { bootstrap: { platform: 'aws' } } },
  { id: 'vsphere', title: 'vSphere', at: { bootstrap: { platform: 'vsphere' } } },
  { id: 'baremetal', title: 'Bare metal', at: { bootstrap: { platform: 'baremetal' } } },
  {
    id: 'arm64',
    title: 'Payload and machines of arm64',
    at: { architecture: 'arm64', bootstrap: { architecture: 'arm64' } },
  },
  {
    id: 'proxy',
    title: 'A proxy that the mirror is excepted from',
    at: { bootstrap: { proxy: { httpsProxy: 'http://proxy.lab.test:3128', noProxy: '.lab.test' } } },
  },
  {
    id: 'sources-blocked',
    title: 'NeverContactSource, on the bootstrap host and on nodes',
    inject: ({ document }) => {
      document.edit(registries, (text) => text.replaceAll('blocked = false', 'blocked = true'))
      document.edit(idms, (text) =>
        text.replaceAll(/( {4}source: )/g, '    mirrorSourcePolicy: NeverContactSource\n$1'),
      )
    },
  },
  {
    id: 'chain-sent',
    title: 'An intermediate authority whose certificate the mirror sends',
    inject: async ({ site }) => {
      const intermediate = await site.authority.subordinate('Lab intermediate CA')
      const { cert, key } = await intermediate.issue({ hosts: [mirrorName] })
      site.mirror.present({ cert: cert + intermediate.pem, key })
    },
  },
  {
    id: 'wildcard-certificate',
    title: 'A certificate for every name of the domain',
    inject: async ({ site }) => site.mirror.present(await site.authority.issue({ hosts: ['*.lab.test'] })),
  },
  {
    id: 'several-authorities',
    title: 'A trust bundle with text before its certificates, and with another authority first',
    inject: async ({ site, document }) => {
      const { pem } = await makeSiteAuthority({ now: site.clock.now(), name: 'Lab proxy CA' })
      const bundle = `# authorities of the lab\n${pem}${site.ca}`
      document.write(trustBundle, bundle)
      document.edit(userBundle, (text) =>
        text.replace(/(ca-bundle\.crt: \|\n)(?: {4}.*\n)+/, `$1${bundle.replaceAll(/^(?=.)/gm, '    ')}`),
      )
    },
  },
  {
    id: 'credentials-by-path',
    title: 'A pull secret with many hosts, and with the mirror by host and path',
    inject: ({ site, document }) => {
      const auths = (host: string) => (JSON.parse(pullSecretFor(host, site.credentials)) as { auths: object }).auths
      const hosts = ['quay.io', 'registry.redhat.io', `${site.mirrorHost}/ocp`]
      const text = JSON.stringify({ auths: Object.assign({}, ...hosts.map(auths)) })
      document.write(pullSecret, text)
      document.edit(nodePullSecret, (manifest) =>
        manifest.replace(/(\.dockerconfigjson: ).*/, `$1${Buffer.from(text).toString('base64')}`),
      )
    },
  },
  {
    id: 'more-for-nodes',
    title: 'Manifests of the user: a time server, and mirrors by tag that only nodes have',
    inject: ({ site, document }) => {
      document.write(
        '/opt/openshift/openshift/99-master-chrony.yaml',
        `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  labels:
    machineconfiguration.openshift.io/role: master
  name: 99-master-chrony
spec:
  config:
    ignition:
      version: 3.2.0
    storage:
      files:
      - path: /etc/chrony.conf
        mode: 420
        overwrite: true
        contents:
          source: data:,server%2010.0.0.1%20iburst%0A
`,
      )
      document.write(
        '/opt/openshift/openshift/99-tag-mirrors.yaml',
        `apiVersion: config.openshift.io/v1
kind: ImageTagMirrorSet
metadata:
  name: tags
spec:
  imageTagMirrors:
  - source: registry.redhat.io/ubi9
    mirrors:
    - ${site.mirrorHost}/ubi9
`,
      )
    },
  },
]
