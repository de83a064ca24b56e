/** An upstream that calls itself quay.io: a release and one image of every kind, on a registry that records what it is asked. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tarFile } from '../src/archive/tar/ustar.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { distinctBlobs } from '../src/quickstart/push-sample.ts'
import { type SampleImage, sampleImage } from '../src/quickstart/sample-image.ts'
import { releaseSources, type SampleRelease, type SampleReleaseOptions } from '../src/quickstart/sample-release.ts'
import { makeAttestation, makeImage, makeIndex, makeMultiArch, makeReferrer, makeSignature } from './image.ts'
import { makeRelease } from './release-payload.ts'
import { type ScriptedRegistry, startScriptedRegistry } from './scripted-registry.ts'
import { pushAll, type RepositoryContent, releaseContent } from './seed.ts'
import { makeLayer } from './tar.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'
import { testClient } from './test-client.ts'

export interface Upstream {
  readonly registry: ScriptedRegistry
  readonly release: SampleRelease
  readonly content: readonly RepositoryContent[]
  /** Lines of `additionalImages` that ask for everything but the release. */
  readonly additional: readonly AdditionalImage[]
  /** Path of a registries.conf that sends quay.io to the registry. */
  readonly registriesConf: string
}

export interface AdditionalImage {
  /** As the configuration names it. */
  readonly name: string
  /** `REPOSITORY:TAG` below the target. */
  readonly destination: string
  readonly image: SampleImage
}

/** Unique bytes and digests of all blobs of `content`. */
export function blobsOfContent(content: readonly RepositoryContent[]): ReadonlyMap<string, number> {
  const blobs = distinctBlobs(content.flatMap(({ images }) => images))
  return new Map(blobs.map(({ descriptor }) => [descriptor.digest, descriptor.size]))
}

/** What one image of every kind needs, and how a configuration asks for it. */
export function imagesOfEveryKind(): { content: RepositoryContent[]; additional: AdditionalImage[] } {
  const single = makeImage({ seed: 'single', tag: '1' })
  const listed = makeMultiArch({ seed: 'list', architectures: ['amd64', 's390x'], mediaTypes: 'docker', tag: '2' })
  const child = makeImage({ seed: 'attested', layerBytes: 70_000 })
  const attested = makeIndex({ children: [child, makeAttestation(child)], tag: 'latest' })
  const nested = makeIndex({ children: [makeMultiArch({ seed: 'nested', architectures: ['amd64', 'arm64'] }), single] })
  const signed = makeImage({ seed: 'signed', tag: '3' })
  const subject = makeImage({ seed: 'subject', tag: '4' })
  const sbom = makeReferrer({ subject, artifactType: 'application/spdx+json', content: '{"spdxVersion":"SPDX-2.3"}' })
  const sbomSignature = makeReferrer({ subject: sbom, artifactType: 'application/x-signature', content: 'signed' })
  const zstd = sampleImage({
    layers: [makeLayer([tarFile('usr/zstd', 'compressed')], mediaTypes.ociLayerZstd)],
    tag: '5',
  })
  const tag = (image: SampleImage) => image.digest.replace(':', '-')
  return {
    content: [
      { repository: 'extra/single', images: [single, nested] },
      { repository: 'extra/list', images: [listed] },
      { repository: 'extra/attested', images: [attested] },
      { repository: 'extra/signed', images: [signed, makeSignature(signed)] },
      { repository: 'extra/subject', images: [subject, sbom, sbomSignature] },
      { repository: 'deep/er/zstd', images: [zstd] },
    ],
    additional: [
      { name: 'quay.io/extra/single:1', destination: 'extra/single:1', image: single },
      { name: `quay.io/extra/single@${nested.digest}`, destination: `extra/single:${tag(nested)}`, image: nested },
      { name: 'docker://quay.io/extra/list:2', destination: 'extra/list:2', image: listed },
      { name: 'quay.io/extra/attested', destination: 'extra/attested:latest', image: attested },
      { name: `quay.io/extra/signed:3@${signed.digest}`, destination: 'extra/signed:3', image: signed },
      { name: 'quay.io/extra/subject:4', destination: 'extra/subject:4', image: subject },
      { name: 'quay.io/deep/er/zstd:5', destination: 'deep/er/zstd:5', image: zstd },
    ],
  }
}

export interface UpstreamOptions {
  readonly release?: Partial<SampleReleaseOptions>
  /** Default: `imagesOfEveryKind`. */
  readonly images?: { readonly content: readonly RepositoryContent[]; readonly additional: readonly AdditionalImage[] }
}

export async function startUpstream(t: Cleanup, options: UpstreamOptions = {}): Promise<Upstream> {
  const registry = await startScriptedRegistry(t, { hasReferrersApi: true })
  const release = makeRelease(options.release)
  const images = options.images ?? imagesOfEveryKind()
  const content = [...releaseContent(release), ...images.content]
  await pushAll(testClient(t).client, registry.address, content)
  registry.requests.length = 0
  const registriesConf = await writeRegistriesConf(t, registry.address)
  return { registry, release, content, additional: images.additional, registriesConf }
}

/** A registries.conf that sends quay.io to `address` over plain HTTP. */
export async function writeRegistriesConf(t: Cleanup, address: string): Promise<string> {
  const path = join(await tempDir(t), 'registries.conf')
  await writeFile(path, `[[registry]]\nprefix = "quay.io"\nlocation = "${address}"\ninsecure = true\n`)
  return path
}

/** The name of a release image, by its tag. */
export function releaseName({ tag }: SampleRelease): string {
  return `${releaseSources.registry}/${releaseSources.images}:${tag}`
}

/** Text of an ImageSetConfiguration. */
export function imageSetText(options: {
  release?: string
  additional?: readonly { readonly name: string }[]
  blocked?: readonly string[]
}): string {
  const { release, additional = [], blocked = [] } = options
  const mirror = {
    ...(release !== undefined && { platform: { release } }),
    additionalImages: additional.map(({ name }) => ({ name })),
    blockedImages: blocked.map((name) => ({ name })),
  }
  return JSON.stringify({ kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1', mirror }, null, 1)
}
