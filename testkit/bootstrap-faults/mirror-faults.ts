/** Faults of the mirror: it is not there, it is something else, or it does not have everything. */
import type { Digest } from '../../src/oci/digest.ts'
import type { SampleImage } from '../../src/quickstart/sample-image.ts'
import { mirrorRepositories } from '../bootstrap-site.ts'
import {
  type BootstrapFault,
  bootkubeStage,
  type FaultyBootstrap,
  nodeImagePull,
  releaseImagePull,
} from './bootstrap-fault.ts'

const before = { era: '4.16' } as const

const serverFaults: readonly BootstrapFault[] = [
  {
    id: 'registry-down',
    title: 'Nothing listens on the port of the mirror',
    section: '5.4 #10',
    at: before,
    expect: 'rehearse.refused',
    expectedStage: releaseImagePull,
    inject: ({ site }) => site.mirror.stop(),
  },
  {
    id: 'registry-silent',
    title: 'The mirror takes connections and never answers',
    section: '5.4 #10',
    expect: 'rehearse.timeout',
    expectedStage: nodeImagePull,
    inject: ({ site }) => site.mirror.fault({ silent: true }),
  },
  {
    id: 'registry-503',
    title: 'The mirror answers 503 to everything',
    section: '5.4 #15',
    expect: 'rehearse.registry-failing',
    expectedStage: nodeImagePull,
    inject: ({ site }) => site.mirror.fault({ status: 503, body: 'Service Unavailable' }),
  },
  {
    id: 'registry-storage-fails',
    title: 'The mirror answers 500 when it is asked for blobs: its storage is gone',
    section: '5.4 #15',
    expect: 'rehearse.registry-failing',
    expectedStage: nodeImagePull,
    inject: ({ site }) => site.mirror.fault({ path: /\/blobs\//, status: 500 }),
  },
  {
    id: 'registry-429',
    title: 'The mirror answers 429 to everything',
    section: '5.4 #14',
    at: before,
    expect: 'rehearse.rate-limited',
    expectedStage: releaseImagePull,
    inject: ({ site }) =>
      site.mirror.fault({
        status: 429,
        headers: { 'retry-after': '0' },
        body: '{"errors":[{"code":"TOOMANYREQUESTS"}]}',
      }),
  },
  {
    id: 'page-instead-of-registry',
    title: 'A page of a web server or a portal answers in the place of the registry',
    section: '5.4 #13',
    expect: 'rehearse.not-a-registry',
    expectedStage: nodeImagePull,
    inject: ({ site }) =>
      site.mirror.fault({
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<html><title>Welcome</title>',
      }),
  },
  {
    id: 'plain-http',
    title: 'The mirror speaks plain HTTP',
    section: '5.4 #12',
    at: before,
    expect: 'rehearse.plain-http',
    expectedStage: releaseImagePull,
    inject: ({ site }) => site.mirror.dropTls(),
  },
]

function component({ site }: FaultyBootstrap, name: string): SampleImage {
  const found = site.release.components.find((one) => one.name === name)
  if (found === undefined) throw new Error(`the release of the site has no ${name}`)
  return found.image
}

function configOf({ blobs }: SampleImage): Digest {
  const config = blobs.find(({ descriptor }) => /\bimage\b.*config|container\.image/.test(descriptor.mediaType))
  if (config === undefined) throw new Error('the image has no config')
  return config.descriptor.digest
}

/** The topmost layer, which no other image of the release has. */
function ownLayerOf({ blobs }: SampleImage): Digest {
  const layers = blobs.filter(({ descriptor }) => /layer|rootfs/.test(descriptor.mediaType))
  const layer = layers.at(-1)
  if (layer === undefined) throw new Error('the image has no layer')
  return layer.descriptor.digest
}

/** Changes the bytes that the mirror holds under a digest. */
function damage({ site }: FaultyBootstrap, digest: Digest, change: (bytes: Buffer) => Uint8Array): void {
  const { blobs } = site.mirror.content
  blobs.set(digest, change(Buffer.from(blobs.get(digest) ?? [])))
}

const { images, components } = mirrorRepositories

const contentFaults: readonly BootstrapFault[] = [
  {
    id: 'release-image-missing',
    title: 'The mirror does not have the release image',
    section: '5.4 #8',
    at: before,
    expect: 'rehearse.manifest-missing',
    expectedStage: releaseImagePull,
    inject: ({ site }) => site.mirror.removeManifest(images, site.release.image.digest),
  },
  {
    id: 'rhel-coreos-missing',
    title: 'The mirror does not have the image of the node',
    section: '5.4 #20',
    expect: 'rehearse.manifest-missing',
    expectedStage: nodeImagePull,
    inject: (bootstrap) => bootstrap.site.mirror.removeManifest(components, component(bootstrap, 'rhel-coreos').digest),
  },
  {
    id: 'component-missing',
    title: 'The mirror does not have one of the components that the bootstrap runs',
    section: '5.4 #8',
    expect: 'rehearse.manifest-missing',
    expectedStage: bootkubeStage('config-bootstrap'),
    inject: (bootstrap) =>
      bootstrap.site.mirror.removeManifest(components, component(bootstrap, 'cluster-config-operator').digest),
  },
  {
    id: 'etcd-missing',
    title: 'The mirror does not have etcd: bootkube waits for it without an end',
    section: '5.4 #27',
    expect: 'rehearse.manifest-missing',
    expectedStage: bootkubeStage('wait-for-etcd'),
    inject: (bootstrap) => bootstrap.site.mirror.removeManifest(components, component(bootstrap, 'etcd').digest),
  },
  {
    id: 'node-component-missing',
    title: 'The mirror does not have a component that only nodes ask for',
    section: '5.4 #36',
    expect: 'rehearse.manifest-missing',
    inject: (bootstrap) => bootstrap.site.mirror.removeManifest(components, component(bootstrap, 'coredns').digest),
  },
  {
    id: 'components-missing',
    title: 'The mirror has the release image and nothing of what it names',
    section: '5.4 #8',
    expect: 'rehearse.manifest-missing',
    expectedStage: nodeImagePull,
    inject: async ({ site }) => {
      for (const { image } of site.release.components) await site.mirror.removeManifest(components, image.digest)
    },
  },
  {
    id: 'config-missing',
    title: 'The mirror has the manifest of a component and not its config',
    section: '5.4 #15',
    expect: 'rehearse.config-missing',
    expectedStage: bootkubeStage('kube-apiserver-bootstrap'),
    inject: (bootstrap) =>
      bootstrap.site.mirror.removeBlob(components, configOf(component(bootstrap, 'cluster-kube-apiserver-operator'))),
  },
  {
    id: 'layer-missing',
    title: 'The mirror has the manifest of a component and not its last layer: a push that was interrupted',
    section: '5.4 #15',
    expect: 'rehearse.layer-missing',
    expectedStage: bootkubeStage('mco-bootstrap'),
    inject: (bootstrap) =>
      bootstrap.site.mirror.removeBlob(components, ownLayerOf(component(bootstrap, 'machine-config-operator'))),
  },
  {
    id: 'layer-of-the-release-missing',
    title: 'The mirror has the manifest of the release image and not the layer with its contents',
    section: '5.4 #15',
    at: before,
    expect: 'rehearse.layer-missing',
    expectedStage: releaseImagePull,
    inject: ({ site }) => site.mirror.removeBlob(images, ownLayerOf(site.release.image)),
  },
  {
    id: 'layer-truncated',
    title: 'A layer of a component has half its bytes: the disk of the mirror was full',
    section: '5.4 #15',
    expect: 'rehearse.content-damaged',
    expectedStage: bootkubeStage('cb-bootstrap'),
    inject: (bootstrap) =>
      damage(bootstrap, ownLayerOf(component(bootstrap, 'cluster-bootstrap')), (bytes) =>
        bytes.subarray(0, bytes.byteLength / 2),
      ),
  },
  {
    id: 'config-damaged',
    title: 'The config of a component is not what its digest says',
    section: '5.4 #15',
    expect: 'rehearse.content-damaged',
    expectedStage: bootkubeStage('kube-scheduler-bootstrap'),
    inject: (bootstrap) =>
      damage(bootstrap, configOf(component(bootstrap, 'cluster-kube-scheduler-operator')), (bytes) =>
        Buffer.from(bytes.toString('utf8').replace('"os"', '"OS"')),
      ),
  },
  {
    id: 'signature-missing',
    title: 'The mirror has the release image and not its signature, which nodes of 4.21 ask for',
    section: '5.4 #25',
    expect: 'rehearse.signature-missing',
    inject: ({ site }) => site.mirror.removeManifest(images, `${site.release.image.digest.replace(':', '-')}.sig`),
  },
  {
    id: 'wrong-architecture',
    title: 'The mirror has the payload for another architecture than that of the machines',
    section: '5.4 #18',
    at: { era: '4.16', architecture: 'arm64' },
    expect: 'rehearse.architecture',
    expectedStage: { service: 'release-image', stage: 'image-metadata-arches-match' },
    // The site itself is the fault: its bootstrap.ign is for machines of amd64.
    inject: () => undefined,
  },
]

export const mirrorFaults: readonly BootstrapFault[] = [...serverFaults, ...contentFaults]
