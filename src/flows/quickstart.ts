/**
 * `sallyport quickstart`: the whole job on one machine, over loopback, with nothing but what Sallyport brings.
 *
 * Every step measures what it claims, and fails where the claim does not hold. What is returned is data; a command
 * renders it.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseImageSetConfiguration } from '../config/image-set-configuration.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Env } from '../host/env.ts'
import { readDone } from '../mirror/done.ts'
import { verifyEgress } from '../mirror/verify-egress.ts'
import { workspaceAt } from '../mirror/workspace.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { distinctBlobs, pushSamples } from '../quickstart/push-sample.ts'
import { releaseSources, type SampleRelease, sampleRelease } from '../quickstart/sample-release.ts'
import { parseRegistriesConf } from '../registries/parse.ts'
import { renderRegistriesConf } from '../registries/render.ts'
import { createRegistryClient } from '../remote/client.ts'
import { noCredentials } from '../remote/credentials.ts'
import { withRegistriesConf } from '../remote/registries-conf-source.ts'
import { countReads, countWrites, type Traffic, TrafficCounter } from './count-traffic.ts'
import { type MirrorResult, mirrorToMirror } from './mirror-to-mirror.ts'
import { ensure, notProven } from './quickstart-claim.ts'
import { damagedImages, damageTwoImages } from './quickstart-damage.ts'
import { proveRehearsal } from './quickstart-rehearsal.ts'
import { QuickstartSite, type SiteFiles, type SiteOptions } from './quickstart-site.ts'
import type { FactsOf, QuickstartEvent, QuickstartStep, StepFacts } from './quickstart-steps.ts'
import { nodeConfOf, releaseReferences, verifyMirrored } from './verify.ts'

export interface QuickstartOptions extends SiteOptions {
  readonly env: Env
  readonly signal: AbortSignal
  readonly onEvent: (event: QuickstartEvent) => void
}

export interface QuickstartResult {
  readonly steps: readonly StepFacts[]
  /** By digest, as a cluster names it. */
  readonly release: string
  readonly mirror: { readonly url: string; readonly address: string; readonly target: string }
  readonly files: SiteFiles
  readonly elapsedMs: number
}

export interface RunningQuickstart {
  readonly result: QuickstartResult
  /** Starts the upstream again: both registries then serve until `close`. */
  startUpstream(): Promise<string>
  close(): Promise<void>
}

const version = '4.18.9'

/**
 * Does and proves everything; the mirror still runs when this returns.
 *
 * @throws KnownError QUICKSTART_FAILED where something is not as it must be, and those of every part
 */
export async function quickstart(options: QuickstartOptions): Promise<RunningQuickstart> {
  const startedAt = options.clock.now()
  const site = await QuickstartSite.open(options)
  try {
    const run = new Quickstart(site, options)
    const steps = await run.steps()
    const { url, address } = site.mirror
    const result: QuickstartResult = {
      steps,
      release: formatReference(run.releaseByDigest),
      mirror: { url, address, target: `${address}/${site.target.path}` },
      files: site.files,
      elapsedMs: options.clock.now() - startedAt,
    }
    return { result, startUpstream: () => site.startUpstream(), close: () => site.close() }
  } catch (error) {
    await site.close()
    throw error
  }
}

class Quickstart {
  readonly #site: QuickstartSite
  readonly #options: QuickstartOptions
  readonly #release: SampleRelease

  constructor(site: QuickstartSite, options: QuickstartOptions) {
    this.#site = site
    this.#options = options
    this.#release = sampleRelease({ seed: 'quickstart', version })
  }

  get releaseByDigest(): Reference {
    return { registry: releaseSources.registry, repository: releaseSources.images, digest: this.#release.image.digest }
  }

  async steps(): Promise<StepFacts[]> {
    return [
      await this.#step('upstream', () => this.#upstream()),
      await this.#step('mirror', () => this.#mirror()),
      await this.#step('again', () => this.#again()),
      await this.#step('resources', () => this.#resources()),
      await this.#step('gap', () => this.#closeGap()),
      await this.#step('coverage', () => this.#coverage()),
      await this.#step('egress', () => this.#egress()),
      await this.#step('damage', () => this.#damage()),
      await this.#step('repair', () => this.#repair()),
      await this.#step('rehearsal', () => this.#rehearsal()),
    ]
  }

  async #step<Step extends QuickstartStep>(step: Step, action: () => Promise<FactsOf<Step>>): Promise<StepFacts> {
    const { clock, signal, onEvent } = this.#options
    signal.throwIfAborted()
    onEvent({ type: 'quickstart.step-began', step })
    const startedAt = clock.now()
    const facts = { ...(await action()), elapsedMs: clock.now() - startedAt }
    onEvent({ type: 'quickstart.step-done', facts })
    return facts
  }

  async #upstream(): Promise<FactsOf<'upstream'>> {
    const address = await this.#site.startUpstream()
    const { image, components, tag } = this.#release
    const images = components.map((component) => component.image)
    const upstream = this.#site.client.insecurely()
    const { signal } = this.#options
    await pushSamples(upstream, { registry: address, repository: releaseSources.components }, images, { signal })
    await pushSamples(upstream, { registry: address, repository: releaseSources.images }, [image], { signal })
    await writeFile(this.#site.files.config, configText(tag))
    const { registry, images: repository } = releaseSources
    const keyId = await this.#site.publishSignature(image.digest, formatReference({ registry, repository, tag }))
    const { blobs, bytes } = this.#uniqueBlobs()
    return { step: 'upstream', version, components: components.length, blobs, bytes, address, keyId }
  }

  async #mirror(): Promise<FactsOf<'mirror'>> {
    const { result, read, sent } = await this.#runMirror()
    const { totals } = result.plan
    const { blobs, bytes } = this.#uniqueBlobs()
    for (const traffic of [read, sent]) {
      ensure(traffic.bytes === bytes && traffic.transfers === blobs, 'each unique blob crosses once', {
        ...traffic,
        expectedBlobs: blobs,
        expectedBytes: bytes,
      })
    }
    const mounted = result.report?.mountedBlobs ?? 0
    const { target } = result.plan
    const { images, logicalBytes } = totals
    return { step: 'mirror', images, target, blobs, bytes, read, sent, mounted, logicalBytes }
  }

  async #again(): Promise<FactsOf<'again'>> {
    const { result, read, sent } = await this.#runMirror()
    const moved = read.bytes + sent.bytes + sent.manifests
    ensure(moved === 0, 'a second run moves nothing', { read: read.bytes, sent: sent.bytes, manifests: sent.manifests })
    return { step: 'again', images: result.proven, read, sent }
  }

  async #runMirror(): Promise<{ result: MirrorResult; read: Traffic; sent: Traffic }> {
    const { files, client, target, workspace } = this.#site
    const { signal } = this.#options
    const conf = parseRegistriesConf(await readFile(files.upstreamConf, 'utf8'), files.upstreamConf)
    const config = parseImageSetConfiguration({ file: files.config, text: await readFile(files.config, 'utf8') })
    const read = new TrafficCounter()
    const sent = new TrafficCounter()
    const source = countReads(withRegistriesConf(client, conf), read)
    const registry = countWrites(client, sent)
    const onEvent = () => undefined
    const { trust, close } = this.#site.openTrust()
    const request = { config, target, workspace, source, registry, signal, onEvent, services: { trust } }
    const result = await mirrorToMirror(request).finally(close)
    const [failure] = result.failures
    if (failure) throw failure.error
    return { result, read: read.traffic, sent: sent.traffic }
  }

  async #resources(): Promise<FactsOf<'resources'>> {
    const { files } = this.#site
    const conf = await nodeConfOf(files.clusterResources)
    await writeFile(files.nodeConf, renderRegistriesConf(conf))
    const names = (await readdir(files.clusterResources)).sort()
    const redirects = conf.registries.flatMap(({ prefix, mirrors }) =>
      [...new Set(mirrors.map(({ location }) => location))].map((mirror) => ({ source: prefix, mirror })),
    )
    return { step: 'resources', files: names, redirects }
  }

  async #closeGap(): Promise<FactsOf<'gap'>> {
    const { clock, log, signal } = this.#options
    const address = await this.#site.startUpstream()
    await this.#site.stopUpstream()
    const stranger = createRegistryClient({
      clock,
      log,
      credentials: noCredentials,
      tls: { certsDirs: [], caFile: this.#site.files.ca },
      proxies: { noProxy: '' },
      isInsecure: () => true,
      limits: { retries: { attempts: 1, connectAttempts: 1 } },
    })
    const answer = await stranger.ping(address, signal).then(
      () => 'it answers',
      (error: unknown) => (error instanceof KnownError ? error.code : String(error)),
    )
    stranger.close()
    signal.throwIfAborted()
    ensure(answer === 'REGISTRY_UNREACHABLE', 'the upstream is out of reach', { address, answer })
    return { step: 'gap', address }
  }

  async #coverage(): Promise<FactsOf<'coverage'>> {
    const { images, manifests, blobs, bytes, findings } = await this.#verify(true)
    ensure(findings.length === 0, 'everything is at the mirror', { findings: findings.length })
    ensure(images === this.#release.components.length + 1, 'every image was looked at', { images })
    return { step: 'coverage', images, manifests, blobs, bytes }
  }

  async #verify(deep: boolean) {
    const { client: registry, workspace } = this.#site
    const { signal } = this.#options
    return (await verifyMirrored(workspace, undefined, { registry, signal, deep })).report
  }

  /** Reads the release back as a node would, then asks for all that it names, and for all that was mirrored. */
  async #egress(): Promise<FactsOf<'egress'>> {
    const { client, files, mirror, workspace } = this.#site
    const { signal } = this.#options
    const conf = await nodeConfOf(files.clusterResources)
    // The real quay.io is never asked, not even where the mirror should fail: stricter than the nodes are.
    const closed = { ...conf, registries: conf.registries.map((entry) => ({ ...entry, blocked: true })) }
    const empty = join(files.directory, 'node')
    const source = withRegistriesConf(client, closed)
    // An empty workspace, so that nothing is known yet and everything is read from the mirror.
    const read = { workspace: workspaceAt(empty, files.directory), source, signal }
    const named = await releaseReferences(this.releaseByDigest, read)
    await rm(empty, { recursive: true, force: true })
    const made = new Set(this.#release.components.map(({ image }) => image.digest))
    const known = named.slice(1).filter(({ digest }) => digest !== undefined && made.has(digest))
    ensure(known.length === made.size, 'the release names every component', { named: named.length - 1 })
    const done = [...(await readDone(workspace)).values()].flat()
    const references = [...named, ...done.map((image) => parseReference(image.source))]
    const inside = new Set([mirror.address])
    const report = await verifyEgress(references, { conf, inside, registry: client, signal })
    ensure(report.findings.length === 0, 'no image would be pulled from outside', { findings: report.findings.length })
    return { step: 'egress', components: named.length - 1, references: report.references }
  }

  async #damage(): Promise<FactsOf<'damage'>> {
    const { paths } = this.#site.mirror.store
    const damaged = await damageTwoImages(this.#release, paths)
    const quick = await this.#verify(false)
    const deep = await this.#verify(true)
    const images = damaged.map((one) => {
      const { findings } = one.command === 'verify mirror' ? quick : deep
      const found = findings.find(({ summary }) => summary.includes(one.digest) && summary.includes(one.component))
      if (!found) throw notProven('a broken image is found and named', { component: one.component, digest: one.digest })
      return { ...one, finding: found }
    })
    ensure(deep.findings.length === damaged.length, 'nothing else is found', { findings: deep.findings.length })
    return { step: 'damage', images }
  }

  async #repair(): Promise<FactsOf<'repair'>> {
    await this.#site.startUpstream()
    const { sent } = await this.#runMirror()
    await this.#site.stopUpstream()
    ensure(sent.transfers === damagedImages, 'only the broken layers are sent again', { ...sent })
    const { images, findings } = await this.#verify(true)
    ensure(findings.length === 0, 'the next mirror run mends what was found', { findings: findings.length })
    return { step: 'repair', sent, images }
  }

  #rehearsal(): Promise<FactsOf<'rehearsal'>> {
    const { clock, log, env, signal } = this.#options
    const about = { site: this.#site, release: this.releaseByDigest, clock, log, env, signal }
    return proveRehearsal(about, this.#release.components.length)
  }

  #uniqueBlobs(): { blobs: number; bytes: number } {
    const { image, components } = this.#release
    const sizes = distinctBlobs([image, ...components.map((component) => component.image)]).map(
      ({ descriptor }) => descriptor.size,
    )
    return { blobs: sizes.length, bytes: sizes.reduce((total, size) => total + size, 0) }
  }
}

function configText(tag: string): string {
  return `kind: ImageSetConfiguration
apiVersion: mirror.openshift.io/v2alpha1
mirror:
  platform:
    release: ${releaseSources.registry}/${releaseSources.images}:${tag}
`
}
