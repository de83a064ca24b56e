/**
 * Everything outside that a channel needs: an update service with graph data, a signature store, and a registry with the
 * releases and the base of the graph image, each a server of its own on loopback.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { tarFile, writeTar } from '../src/archive/tar/ustar.ts'
import { releaseSources, type SampleRelease, type SampleReleaseOptions } from '../src/quickstart/sample-release.ts'
import { channelsKey, type GraphServer, type ServedGraph, startGraphServer } from './graph-server.ts'
import { makeImage } from './image.ts'
import { makeRelease } from './release-payload.ts'
import { makeReleaseSigner, type ReleaseSigner, signRelease } from './release-signing.ts'
import { type ScriptedRegistry, startScriptedRegistry } from './scripted-registry.ts'
import { pushAll, releaseContent } from './seed.ts'
import { type SignatureServer, startSignatureServer } from './signature-server.ts'
import { makeSigningKey, makeSigstoreSignature, type SigningKey, signatureTag } from './sigstore-signing.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'
import { testClient } from './test-client.ts'

export interface UpdateSiteOptions {
  /** Each with its channels. */
  readonly releases: Readonly<Record<string, readonly string[]>>
  /** From one version to the next; with names of known risks. */
  readonly updates: readonly (readonly [from: string, to: string, ...risks: readonly string[]])[]
  readonly architectures?: readonly string[]
  /** More of each release. */
  readonly release?: Partial<SampleReleaseOptions>
}

export interface UpdateSite {
  readonly registry: ScriptedRegistry
  readonly graphs: GraphServer
  readonly signatures: SignatureServer
  readonly signer: ReleaseSigner
  readonly sigstoreKey: SigningKey
  readonly releases: readonly SampleRelease[]
  /** Path of a registries.conf that sends quay.io and registry.access.redhat.com to the registry. */
  readonly registriesConf: string
  /** Path of the public key that releases are signed with by sigstore. */
  readonly sigstoreKeyFile: string
  /** For the process: where graphs and signatures are, and the key that signed them. */
  readonly env: Readonly<Record<string, string>>
  /** The pullspec of a release, as the update service has it. */
  readonly payloadOf: (release: SampleRelease) => string
  close(): Promise<void>
}

export async function startUpdateSite(t: Cleanup, options: UpdateSiteOptions): Promise<UpdateSite> {
  const registry = await startScriptedRegistry(t, { hasReferrersApi: true })
  const signatures = await startSignatureServer(t)
  const [signer, sigstoreKey] = [await makeReleaseSigner(), makeSigningKey()]
  const releases = releasesOf(options)
  const base = makeImage({ seed: 'ubi', tag: 'latest' })
  await pushAll(testClient(t).client, registry.address, [
    ...releases.flatMap((release) => releaseContent(release)),
    { repository: releaseSources.images, images: releases.map((release) => sigstoreOf(release, sigstoreKey)) },
    { repository: 'ubi9/ubi', images: [base] },
  ])
  for (const { image, tag } of releases) {
    const reference = `quay.io/${releaseSources.images}:${tag}`
    signatures.publish(image.digest, await signRelease(signer, { digest: image.digest, reference }))
  }
  registry.requests.length = 0
  const graphs = await startGraphServer(t, { graphs: servedGraphs(releases, options), graphData: graphData(options) })
  const root = await tempDir(t)
  const [registriesConf, keyFile, sigstoreKeyFile] = ['registries.conf', 'release.asc', 'cosign.pub'].map((name) =>
    join(root, name),
  ) as [string, string, string]
  const entry = (host: string) =>
    `[[registry]]\nprefix = "${host}"\nlocation = "${registry.address}"\ninsecure = true\n`
  await writeFile(registriesConf, ['quay.io', 'registry.access.redhat.com'].map(entry).join(''))
  await writeFile(keyFile, signer.publicKey)
  await writeFile(sigstoreKeyFile, sigstoreKey.publicPem)
  const env = {
    UPDATE_URL_OVERRIDE: graphs.graphUrl,
    OCP_SIGNATURE_URL: signatures.url,
    OCP_SIGNATURE_VERIFICATION_PK: keyFile,
  }
  return {
    ...{ registry, graphs, signatures, signer, sigstoreKey, releases, registriesConf, sigstoreKeyFile, env, payloadOf },
    close: async () => {
      await Promise.all([registry.close(), graphs.close(), signatures.close()])
    },
  }
}

function releasesOf({ releases, release, architectures = ['amd64'] }: UpdateSiteOptions): SampleRelease[] {
  return Object.keys(releases).flatMap((version) =>
    architectures.map((architecture) =>
      makeRelease({ components: 5, version, architecture, revisions: { cli: version }, ...release }),
    ),
  )
}

function payloadOf({ image }: SampleRelease): string {
  return `quay.io/${releaseSources.images}@${image.digest}`
}

function sigstoreOf({ image }: SampleRelease, key: SigningKey) {
  const dockerReference = `quay.io/${releaseSources.images}`
  return signatureTag(image.digest, [makeSigstoreSignature({ key, digest: image.digest, dockerReference })])
}

function servedGraphs(releases: readonly SampleRelease[], options: UpdateSiteOptions): Record<string, ServedGraph> {
  const byArchitecture = Object.groupBy(releases, ({ tag }) => (tag.endsWith('-aarch64') ? 'arm64' : 'amd64'))
  return Object.fromEntries(
    Object.entries(byArchitecture).map(([architecture, members]) => [architecture, servedGraph(members, options)]),
  )
}

function servedGraph(releases: readonly SampleRelease[], { releases: channels, updates }: UpdateSiteOptions) {
  const place = (version: string) => releases.findIndex((release) => release.version === version)
  return {
    version: 1,
    nodes: releases.map((release) => ({
      version: release.version,
      payload: payloadOf(release),
      metadata: {
        [channelsKey]: (channels[release.version] ?? []).join(','),
        url: `https://errata.invalid/${release.version}`,
      },
    })),
    edges: updates.filter(([, , ...risks]) => risks.length === 0).map(([from, to]) => [place(from), place(to)]),
    conditionalEdges: updates
      .filter(([, , ...risks]) => risks.length > 0)
      .map(([from, to, ...risks]) => ({
        edges: [{ from, to }],
        risks: risks.map((name) => ({
          name,
          message: `${name} may hit clusters on some platforms.`,
          url: `https://issues.invalid/${name}`,
          matchingRules: [{ type: 'Always' }],
        })),
      })),
  }
}

/** As the update service serves it: channels and a version, in a tar.gz. */
function graphData({ releases }: UpdateSiteOptions): Uint8Array {
  const channels = [...new Set(Object.values(releases).flat())].sort()
  const files = channels.map((name) => {
    const versions = Object.keys(releases).filter((version) => releases[version]?.includes(name))
    return tarFile(`channels/${name}.yaml`, `name: ${name}\nversions:\n${versions.map((one) => `- ${one}\n`).join('')}`)
  })
  return gzipSync(Buffer.concat([...writeTar([tarFile('version', '1.2.0\n'), ...files])]))
}
