/** Stage 01: the networks; in a lab also the outside, a registry that plays quay.io. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { formatReference } from '../../oci/reference.ts'
import type { Lab } from '../../provision/lab/lab-provider.ts'
import { pushSamples } from '../../quickstart/push-sample.ts'
import { releaseSources, type SampleRelease } from '../../quickstart/sample-release.ts'
import { renderRegistriesConf } from '../../registries/render.ts'
import { selfSignedCertificate } from '../../registry/certificate.ts'
import { startRegistry } from '../../registry/server.ts'
import { createRegistryClient } from '../../remote/client.ts'
import { noCredentials } from '../../remote/credentials.ts'
import { makeSampleSigner } from '../../trust/sample-signer.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { NetworkMade } from './infrastructure-outputs.ts'
import { labRelease, labVersion } from './lab-release.ts'
import { machineOf } from './machine.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { labOf, makingOf, type StageParts } from './stage-parts.ts'

export function networkStep(parts: StageParts) {
  return defineStep({
    title: 'networks of the three sides',
    version: 2,
    input: z.strictObject({ platform: z.string(), nodes: z.number() }),
    output: NetworkMade,
    policy: { timeoutMs: 30 * 60_000 },
    async apply(_, context) {
      const lab = await labOf(parts, context)
      for (const { kind, name, description } of await lab.plan()) context.print(`${kind} ${name}: ${description}\n`)
      const { addresses, limits } = await lab.makeNetwork(makingOf(context, 'infrastructure'))
      const { plan, mode } = lab.settings
      return { lab: plan.id, mode: mode.kind, addresses: copied(addresses), limits: [...limits] }
    },
    verify: async (_, { limits }) =>
      limits.map((summary) => ({ id: 'lab.limit', severity: 'warning', summary }) as const),
    async holds(_, __, context) {
      const lab = await labOf(parts, context)
      const { mode } = lab.settings
      const status = await lab.status()
      return status.every(({ kind, isThere }) => isThere || (kind === 'network namespace' && mode.kind === 'loopback'))
    },
  })
}

function copied({
  connected,
  bastion,
  closed,
}: Readonly<Record<'connected' | 'bastion' | 'closed', readonly string[]>>) {
  return { connected: [...connected], bastion: [...bastion], closed: [...closed] }
}

/** The outside of a lab: a release made here, signed with a key made here, behind the name quay.io. */
export function upstreamStep(parts: StageParts) {
  return defineStep({
    title: 'the outside: a registry with a release',
    version: 1,
    where: 'connected',
    input: z.strictObject({ network: NetworkMade, architecture: z.string() }),
    output: ReleaseKnown,
    expect: () => Promise.resolve(parts.labBytes === undefined ? {} : { diskBytes: parts.labBytes() }),
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ network }, context) {
      const lab = await labOf(parts, context)
      const root = join(lab.settings.directory, 'upstream')
      const release = labRelease()
      await fillStore(parts, { root: join(root, 'store'), release, context })
      const address = network.addresses.connected[0] ?? ''
      const port = upstreamPort(lab)
      const hosts = [releaseSources.registry, address]
      const tls = await selfSignedCertificate({ root: join(root, 'store'), hosts, clock: parts.clock })
      await serveUpstream(parts, { lab, context, address: `${address}:${port}`, root: join(root, 'store') })
      const { registry, images: repository } = releaseSources
      const files = await writeUpstreamFiles(root, { release, address: `${address}:${port}`, isNamed: port === 443 })
      const reference = formatReference({ registry, repository, digest: release.image.digest })
      context.print(`${reference} is ${labVersion}, with ${release.components.length} components\n`)
      const { imageSet, ...outside } = files
      return { release: reference, version: labVersion, imageSet, outside: { ca: tls.caFile, ...outside } }
    },
    holds: async (_, __, context) => (await machineOf(parts, context)).isServing('upstream'),
  })
}

/** 443 where the name is known; on 127.0.0.1, where others may be, a port of the lab. */
function upstreamPort({ settings: { mode, plan } }: Lab): number {
  return mode.kind === 'namespaces' ? 443 : 20_000 + plan.subnet * 4
}

interface FillOptions {
  readonly root: string
  readonly release: SampleRelease
  readonly context: StepContext
}

/** Through a registry that nobody else talks to. */
async function fillStore({ clock, log }: StageParts, { root, release, context }: FillOptions): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  const registry = await startRegistry({ root, clock, log })
  const client = createRegistryClient({
    clock,
    log,
    credentials: noCredentials,
    tls: { certsDirs: [] },
    proxies: { noProxy: '' },
  })
  try {
    const { signal } = context
    const target = client.insecurely()
    const components = release.components.map(({ image }) => image)
    await pushSamples(target, { registry: registry.address, repository: releaseSources.components }, components, {
      signal,
    })
    await pushSamples(target, { registry: registry.address, repository: releaseSources.images }, [release.image], {
      signal,
    })
  } finally {
    client.close()
    await registry.close(0)
  }
}

interface ServeOptions {
  readonly lab: Lab
  readonly context: StepContext
  readonly address: string
  readonly root: string
}

async function serveUpstream(parts: StageParts, { lab, context, address, root }: ServeOptions): Promise<void> {
  const port = Number(address.slice(address.lastIndexOf(':') + 1))
  const host = address.slice(0, address.lastIndexOf(':'))
  const names = ['--san', releaseSources.registry, '--san', host]
  const words = ['registry', 'serve', '--root', root, '--listen', address, '--self-signed', ...names, '--read-only']
  await lab.serve(
    { site: 'connected', name: 'upstream', argv: [...parts.self, ...words], env: {}, ports: [port] },
    makingOf(context, 'infrastructure'),
  )
}

async function writeUpstreamFiles(
  root: string,
  {
    release,
    address,
    isNamed,
  }: { readonly release: SampleRelease; readonly address: string; readonly isNamed: boolean },
): Promise<Readonly<Record<'imageSet' | 'registriesConf' | 'signatures' | 'releaseKey', string>>> {
  const { registry, images } = releaseSources
  const { digest } = release.image
  const [imageSet, registriesConf, releaseKey] = ['isc.yaml', 'registries.conf', 'release-key.asc'].map((name) =>
    join(root, name),
  )
  const signatures = join(root, 'signatures')
  const name = `${registry}/${images}:${release.tag}`
  const signer = await makeSampleSigner('Sallyport lab')
  const directory = join(signatures, digest.replace(':', '='))
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(join(directory, 'signature-1'), await signer.sign(digest, name))
  await writeFile(releaseKey ?? '', signer.publicKey)
  await writeFile(
    imageSet ?? '',
    `apiVersion: mirror.openshift.io/v2alpha1\nkind: ImageSetConfiguration\nmirror:\n  platform:\n    release: ${name}\n`,
  )
  const entry = {
    prefix: registry,
    location: address,
    insecure: false,
    blocked: false,
    mirrorByDigestOnly: false,
    mirrors: [],
  }
  const registries = isNamed ? [] : [{ ...entry, origin: 'lab' }]
  await writeFile(registriesConf ?? '', renderRegistriesConf({ registries }))
  return { imageSet: imageSet ?? '', registriesConf: registriesConf ?? '', signatures, releaseKey: releaseKey ?? '' }
}
