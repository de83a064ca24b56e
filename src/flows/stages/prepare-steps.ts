/** Stage 07: install-config.yaml and the Ignition config, checked and rehearsed before there is a machine. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { checkInstallConfig } from '../../install/check-install-config.ts'
import { renderInstallConfig } from '../../install/render-install-config.ts'
import type { Json } from '../../journal/events.ts'
import { sampleBootstrap } from '../../quickstart/sample-bootstrap/bootstrap-config.ts'
import type { SampleProxy } from '../../quickstart/sample-bootstrap/bootstrap-options.ts'
import { sampleTlsAssets } from '../../quickstart/sample-bootstrap/tls-assets.ts'
import { failWith } from '../../workflow/attempt.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { nodeConfOf } from '../verify.ts'
import { CredentialsMade, HostMade, MirrorMade } from './bastion-outputs.ts'
import { NetworkMade, UpstreamMade } from './infrastructure-outputs.ts'
import { Loaded } from './mirror-outputs.ts'
import { BootstrapMade, ConfigRendered, Rehearsed } from './prepare-outputs.ts'
import { runSallyport, type StageParts, splitHost, workFolder } from './stage-parts.ts'

/** What a mirror gives to the installation; nothing of it where a site has none. */
const MirrorSide = z.strictObject({ mirror: MirrorMade, credentials: CredentialsMade, loaded: Loaded })
type MirrorSide = z.infer<typeof MirrorSide>

const PrepareInput = z.strictObject({
  upstream: UpstreamMade,
  side: MirrorSide.optional(),
  host: HostMade,
  /** sallyport.yaml: another one is another install-config. */
  site: z.json(),
})

export function installConfigStep(parts: StageParts) {
  return defineStep({
    title: 'install-config.yaml, rendered and checked',
    version: 1,
    input: PrepareInput,
    output: ConfigRendered,
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ upstream, side, host }, context) {
      const { site } = parts
      const file = join(workFolder(context, 'install'), 'install-config.yaml')
      const text = renderInstallConfig(site, {
        version: upstream.version,
        pullSecrets: {
          mirror: side && (await readSecret(side.credentials.authFile, context)),
          release: '{"auths":{}}',
        },
        trustBundles: side ? [await readFile(side.mirror.ca, 'utf8')] : [await readFile(upstream.ca, 'utf8')],
        ...(side && { mirrorSources: await mirrorSourcesOf(side) }),
        secretOf: () => undefined,
      })
      await mkdir(workFolder(context, 'install'), { recursive: true, mode: 0o700 })
      await writeFile(file, text, { mode: 0o600 })
      const findings = checkInstallConfig({ file, text }, upstream.version)
      for (const { severity, summary, remedy } of findings)
        context.print(`${severity}: ${summary}${remedy ? ` (${remedy})` : ''}\n`)
      failWith(findings)
      context.print(host.proxyUrl === undefined ? '' : `the proxy of the bastion is ${host.proxyUrl}\n`)
      return { file }
    },
  })
}

async function readSecret(path: string, context: StepContext): Promise<string> {
  const text = await readFile(path, 'utf8')
  context.hide(text)
  return text
}

async function mirrorSourcesOf({ loaded }: MirrorSide) {
  const { registries } = await nodeConfOf(loaded.clusterResources)
  return registries.map(({ prefix, mirrors }) => ({
    source: prefix,
    mirrors: [...new Set(mirrors.map(({ location }) => location))],
  }))
}

/** The bootstrap.ign of the demonstration release, whose installer cannot run. */
export function sampleIgnitionStep(parts: StageParts) {
  return defineStep({
    title: 'the Ignition config of the bootstrap host',
    version: 1,
    input: PrepareInput,
    output: BootstrapMade,
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ upstream, side, host }, context) {
      const { name: clusterName, baseDomain } = parts.site
      const cluster = { clusterName, baseDomain }
      const proxy = side === undefined ? await proxyOf(host, context) : undefined
      const text = sampleBootstrap({
        ...cluster,
        era: '4.16',
        releaseImage: upstream.release,
        tls: await sampleTlsAssets({ ...cluster, seed: context.run, notBefore: parts.clock.now() }),
        trustBundle: await readFile(side?.mirror.ca ?? upstream.ca, 'utf8'),
        pullSecret: side ? await readSecret(side.credentials.authFile, context) : '{"auths":{}}',
        digestSources: side ? await mirrorSourcesOf(side) : [],
        ...(proxy && { proxy }),
      })
      const file = join(workFolder(context, 'install'), 'bootstrap.ign')
      await mkdir(workFolder(context, 'install'), { recursive: true, mode: 0o700 })
      await writeFile(file, text, { mode: 0o600 })
      return { file }
    },
  })
}

/** With its password: as a host has it. */
export async function proxyOf(
  { proxyUrl, username, password }: HostMade,
  context: StepContext,
): Promise<SampleProxy | undefined> {
  if (proxyUrl === undefined || typeof password !== 'object') return undefined
  const url = new URL(proxyUrl)
  url.username = username ?? ''
  url.password = await context.secret(password.secret)
  return { httpProxy: url.href, httpsProxy: url.href, noProxy: '' }
}

/** Everything that the host and the nodes will ask for is asked now, on the closed side; the scripts are run in a sandbox. */
export function rehearseStep(parts: StageParts) {
  return defineStep({
    title: 'the rehearsal of the bootstrap, on the closed side',
    version: 1,
    where: 'closed',
    input: z.strictObject({ bootstrap: BootstrapMade, network: NetworkMade, registry: z.string().optional() }),
    output: Rehearsed,
    policy: { timeoutMs: 60 * 60_000 },
    async apply({ bootstrap, network, registry }, context) {
      const report = join(context.directories.artifacts, 'rehearsal.html')
      const { name, baseDomain } = parts.site
      const inside = network.addresses.bastion[0] ?? ''
      const node = network.addresses.closed[0] ?? ''
      const domain = `${name}.${baseDomain}`
      const via = [`api.${domain}=${node}`, `api-int.${domain}=${node}`]
      if (registry !== undefined) via.push(`${splitHost(registry).host}=${inside}`)
      const words = ['rehearse', bootstrap.file, '--report', report, ...via.flatMap((pair) => ['--via', pair])]
      const answer = await runSallyport(parts, context, { where: 'closed', words })
      const { images, notes } = countRehearsed(answer)
      return { report, images, notes }
    },
  })
}

const Report = z.object({
  findings: z.array(z.unknown()),
  levelOne: z.object({ images: z.array(z.unknown()) }).optional(),
})

function countRehearsed(answer: Json): { readonly images: number; readonly notes: number } {
  const { findings, levelOne } = Report.parse(answer)
  return { images: levelOne?.images.length ?? 0, notes: findings.length }
}
