/** Faults of registries.conf, of names, of proxies and of time: the mirror is sound, and the bootstrap host does not find it. */
import { releaseSources } from '../../src/quickstart/sample-release.ts'
import { mirrorName, mirrorRepositories } from '../bootstrap-site.ts'
import type { IgnitionDocument } from '../ignition-document.ts'
import { startScriptedProxy } from '../scripted-proxy.ts'
import { type BootstrapFault, hostPaths, nodeImagePull, releaseImagePull } from './bootstrap-fault.ts'

const { registries } = hostPaths
const before = { era: '4.16' } as const
const hourMs = 60 * 60 * 1000
const releaseSource = `${releaseSources.registry}/${releaseSources.images}`
const componentSource = `${releaseSources.registry}/${releaseSources.components}`

function editRegistries(document: IgnitionDocument, change: (text: string) => string): void {
  document.edit(registries, change)
}

/** Takes out the entry of a source. */
function withoutSource(text: string, source: string): string {
  return text
    .split(/^(?=\[\[registry\]\])/m)
    .filter((entry) => !entry.includes(`location = "${source}"`))
    .join('')
}

const coverageFaults: readonly BootstrapFault[] = [
  {
    id: 'tag-under-digest-mirrors',
    title: 'The release image is named by its tag, and mirrors are for digests only',
    section: '5.4 #22',
    at: before,
    expect: 'rehearse.tag-reference',
    expectedStage: releaseImagePull,
    inject: ({ site, document }) => {
      const byTag = `${releaseSource}:${site.release.tag}`
      for (const name of ['release-image.sh', 'release-image-download.sh'])
        document.edit(`/usr/local/bin/${name}`, (text) => text.replaceAll(site.releaseImage, byTag))
    },
  },
  {
    id: 'only-release-covered',
    title: 'There are mirrors for the release image, and none for its components',
    section: '5.4 #7',
    expect: 'rehearse.source-uncovered',
    expectedStage: nodeImagePull,
    inject: ({ document }) => editRegistries(document, (text) => withoutSource(text, componentSource)),
  },
  {
    id: 'only-components-covered',
    title: 'There are mirrors for the components, and none for the release image',
    section: '5.4 #7',
    at: before,
    expect: 'rehearse.source-uncovered',
    expectedStage: releaseImagePull,
    inject: ({ document }) => editRegistries(document, (text) => withoutSource(text, releaseSource)),
  },
  {
    id: 'no-mirrors',
    title: 'registries.conf is empty: everything would come from quay.io',
    section: '5.4 #7',
    expect: 'rehearse.no-mirror',
    expectedStage: nodeImagePull,
    inject: ({ document }) => editRegistries(document, () => ''),
  },
  {
    id: 'mirror-path-flattened',
    title:
      'The mirrors name one repository for all, as `oc adm release mirror` fills it; the mirror has those of oc-mirror',
    section: '5.4 #8',
    expect: 'rehearse.manifest-missing',
    expectedStage: nodeImagePull,
    inject: ({ document }) =>
      editRegistries(document, (text) => text.replaceAll(/\/ocp\/openshift\/[a-z-]+/g, '/ocp/openshift4')),
  },
  {
    id: 'mirror-paths-swapped',
    title: 'The two mirrors stand at the wrong sources',
    section: '5.4 #8',
    expect: 'rehearse.manifest-missing',
    expectedStage: nodeImagePull,
    inject: ({ document }) =>
      editRegistries(document, (text) =>
        text.replaceAll(/\/ocp\/openshift\/release(-images)?"/g, (_, isImages) =>
          isImages === undefined ? `/${mirrorRepositories.images}"` : `/${mirrorRepositories.components}"`,
        ),
      ),
  },
  {
    id: 'source-blocked-mirror-empty',
    title: 'The source is blocked (NeverContactSource), and the mirror does not have the image',
    section: '5.4 #24',
    expect: 'rehearse.manifest-missing',
    expectedStage: nodeImagePull,
    inject: async ({ site, document }) => {
      editRegistries(document, (text) => text.replaceAll('blocked = false', 'blocked = true'))
      await site.mirror.removeManifest(mirrorRepositories.images, site.release.image.digest)
    },
  },
  {
    id: 'mirror-blocked',
    title: 'An entry for the mirror blocks the mirror itself',
    section: '5.4 #24',
    expect: 'rehearse.blocked',
    expectedStage: nodeImagePull,
    inject: ({ site, document }) =>
      editRegistries(document, (text) => `${text}[[registry]]\nlocation = "${site.mirrorHost}"\nblocked = true\n`),
  },
  {
    id: 'source-without-mirror-blocked',
    title: 'The source of the components is blocked and has no mirror',
    section: '5.4 #24',
    expect: 'rehearse.blocked',
    expectedStage: nodeImagePull,
    inject: ({ document }) =>
      editRegistries(
        document,
        (text) =>
          `${withoutSource(text, componentSource)}[[registry]]\nlocation = "${componentSource}"\nblocked = true\n`,
      ),
  },
]

const refusedFaults: readonly BootstrapFault[] = [
  {
    id: 'registries-conf-broken',
    title: 'registries.conf is no TOML: a quotation mark is missing',
    section: '5.4 #26',
    expect: 'registries.conf-invalid',
    expectedStage: nodeImagePull,
    inject: ({ document }) => editRegistries(document, (text) => text.replace('release-images"', 'release-images')),
  },
  {
    id: 'registries-conf-url',
    title: 'A mirror is written as an URL',
    section: '5.4 #26',
    at: before,
    expect: 'registries.conf-invalid',
    expectedStage: releaseImagePull,
    inject: ({ document }) =>
      editRegistries(document, (text) => text.replaceAll(`"${mirrorName}`, `"https://${mirrorName}`)),
  },
  {
    id: 'registries-conf-conflict',
    title: 'One source stands there twice, blocked and not blocked: two source policies for it',
    section: '5.4 #26',
    expect: 'registries.conf-invalid',
    expectedStage: nodeImagePull,
    inject: ({ document }) =>
      editRegistries(document, (text) => text + text.replaceAll('blocked = false', 'blocked = true')),
  },
  {
    id: 'registries-conf-mixed',
    title: 'pull-from-mirror, as nodes have it, within mirror-by-digest-only, as the bootstrap host has it',
    section: '5.4 #26',
    expect: 'registries.conf-invalid',
    expectedStage: nodeImagePull,
    inject: ({ document }) =>
      editRegistries(document, (text) =>
        text.replaceAll(/(\[\[registry\.mirror\]\]\n.*\n)/g, '$1pull-from-mirror = "digest-only"\n'),
      ),
  },
  {
    id: 'registries-drop-in-broken',
    title: 'A drop-in for registries.conf is of the old version 1',
    section: '5.4 #26',
    at: before,
    expect: 'registries.conf-invalid',
    expectedStage: releaseImagePull,
    inject: ({ document }) =>
      document.write(
        '/etc/containers/registries.conf.d/99-site.conf',
        '[registries.insecure]\nregistries = ["a.test"]\n',
      ),
  },
  {
    id: 'registries-conf-private',
    title: 'registries.conf has mode 0600',
    section: '5.4 #20',
    expect: 'rehearse.registries-mode',
    inject: ({ document }) => {
      document.file(registries).mode = 0o600
    },
  },
]

const patternFaults: readonly BootstrapFault[] = [
  {
    id: 'mirror-at-localhost',
    title: 'The mirrors are at localhost, where the mirror of another machine is not',
    section: 'anti-pattern',
    expect: 'rehearse.mirror-localhost',
    expectedStage: nodeImagePull,
    inject: ({ document }) => editRegistries(document, (text) => text.replaceAll(`"${mirrorName}:`, '"localhost:')),
  },
  {
    id: 'mirrors-insecure',
    title: 'Every mirror has insecure = true',
    section: 'anti-pattern',
    expect: 'rehearse.mirror-insecure',
    inject: ({ document }) =>
      editRegistries(document, (text) =>
        text.replaceAll(/(\[\[registry\.mirror\]\]\n.*\n)insecure = false/g, '$1insecure = true'),
      ),
  },
  {
    id: 'hosts-entry-for-quay',
    title: '/etc/hosts sends quay.io to the mirror',
    section: 'anti-pattern',
    expect: 'rehearse.hosts-entry',
    inject: ({ document }) =>
      document.write('/etc/hosts', '127.0.0.1 localhost\n10.0.0.10 quay.io registry.redhat.io\n'),
  },
  {
    id: 'nodes-have-other-mirrors',
    title: 'The mirror set in the manifests names another mirror than registries.conf',
    section: '5.4 #35',
    expect: 'rehearse.mirrors-drift',
    // `oc` goes by the mirror set of the manifests, between two stages.
    expectedStage: { service: 'bootkube' },
    inject: ({ document }) =>
      document.edit('/opt/openshift/manifests/image-digest-mirror-set.yaml', (text) =>
        text.replaceAll(mirrorName, 'old-mirror.lab.test'),
      ),
  },
  {
    id: 'nodes-have-no-mirrors',
    title: 'The mirror set is missing from the manifests: nodes would ask quay.io',
    section: '5.4 #35',
    expect: 'rehearse.mirrors-drift',
    // `oc` goes by the mirror set of the manifests, between two stages.
    expectedStage: { service: 'bootkube' },
    inject: ({ document }) => document.remove('/opt/openshift/manifests/image-digest-mirror-set.yaml'),
  },
]

const proxied = {
  bootstrap: { proxy: { httpProxy: 'http://proxy.lab.test:3128', httpsProxy: 'http://proxy.lab.test:3128' } },
}

const nameFaults: readonly BootstrapFault[] = [
  {
    id: 'mirror-unresolved',
    title: 'The name of the mirror is not resolved',
    section: '5.4 #11',
    expect: 'rehearse.name-unresolved',
    expectedStage: nodeImagePull,
    inject: ({ via }) => void via.delete(mirrorName),
  },
  {
    id: 'api-unresolved',
    title: 'The name of the API is not resolved',
    section: '5.4 #30',
    expect: 'rehearse.api-unresolved',
    expectedStage: { service: 'bootkube', stage: 'resolve-api-url' },
    inject: ({ via }) => void via.delete('api.demo.lab.test'),
  },
  {
    id: 'api-int-unresolved',
    title: 'The internal name of the API is not resolved',
    section: '5.4 #30',
    expect: 'rehearse.api-int-unresolved',
    expectedStage: { service: 'bootkube', stage: 'resolve-api-int-url' },
    inject: ({ via }) => void via.delete('api-int.demo.lab.test'),
  },
  {
    id: 'no-proxy-without-mirror',
    title: 'There is a proxy, and noProxy does not name the mirror',
    section: '5.4 #13',
    at: proxied,
    expect: 'rehearse.no-proxy-missing',
    expectedStage: nodeImagePull,
    inject: () => undefined,
  },
  {
    id: 'proxy-refuses',
    title: 'The proxy asks for a password that the bootstrap host does not have',
    section: '5.4 #13',
    at: proxied,
    expect: 'rehearse.proxy',
    expectedStage: nodeImagePull,
    inject: async ({ t, document, via }) => {
      const { url } = await startScriptedProxy(t, 'somebody:else')
      via.set('proxy.lab.test', '127.0.0.1')
      for (const path of ['/etc/profile.d/proxy.sh', '/etc/systemd/system.conf.d/10-default-env.conf'])
        document.edit(path, (text) => text.replaceAll('proxy.lab.test:3128', `proxy.lab.test:${new URL(url).port}`))
    },
  },
]

const timeFaults: readonly BootstrapFault[] = [
  {
    id: 'clock-behind',
    title: 'The clock is two hours behind that of the mirror',
    section: '5.4 #4',
    expect: 'rehearse.clock-skew',
    expectedStage: nodeImagePull,
    inject: (bootstrap) => {
      bootstrap.clockOffsetMs = -2 * hourMs
    },
  },
  {
    id: 'clock-ahead',
    title: 'The clock is 25 hours ahead of that of the mirror',
    section: '5.4 #5',
    expect: 'rehearse.clock-skew',
    inject: (bootstrap) => {
      bootstrap.clockOffsetMs = 25 * hourMs
    },
  },
  {
    id: 'bootstrap-too-old',
    title: 'The bootstrap.ign was made 25 hours ago: its certificates of a day have expired',
    section: '5.4 #5',
    at: { bootstrapAgeMs: 25 * hourMs },
    expect: 'rehearse.bootstrap-certificate-expired',
    inject: () => undefined,
  },
  {
    id: 'bootstrap-from-the-future',
    title: 'The bootstrap.ign was made on a machine whose clock is three hours ahead',
    section: '5.4 #4',
    at: { bootstrapAgeMs: -3 * hourMs },
    expect: 'rehearse.bootstrap-certificate-not-yet-valid',
    inject: () => undefined,
  },
]

export const resolutionFaults: readonly BootstrapFault[] = [
  ...coverageFaults,
  ...refusedFaults,
  ...patternFaults,
  ...nameFaults,
  ...timeFaults,
]
