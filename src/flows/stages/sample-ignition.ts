/** The bootstrap.ign of the demonstration release, whose installer cannot run. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { sampleBootstrap } from '../../quickstart/sample-bootstrap/bootstrap-config.ts'
import type { SampleProxy } from '../../quickstart/sample-bootstrap/bootstrap-options.ts'
import { sampleTlsAssets } from '../../quickstart/sample-bootstrap/tls-assets.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { HostMade } from './bastion-outputs.ts'
import { pathAt } from './places.ts'
import { BootstrapMade, ConfigRendered } from './prepare-outputs.ts'
import { mirrorSourcesOf, PrepareInput } from './prepare-steps.ts'
import { recordedFolder } from './site-undo.ts'
import type { StageParts } from './stage-parts.ts'

export function sampleIgnitionStep(parts: StageParts) {
  return defineStep({
    title: 'the Ignition config of the bootstrap host',
    version: 1,
    where: 'bastion',
    input: z.strictObject({ ...PrepareInput.shape, host: HostMade, config: ConfigRendered }),
    output: BootstrapMade,
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ release, side, host }, context) {
      const { name: clusterName, baseDomain } = parts.site
      const cluster = { clusterName, baseDomain }
      const proxy = side === undefined ? await proxyOf(host, context) : undefined
      const ca = side === undefined ? release.outside?.ca : side.mirror.ca
      const text = sampleBootstrap({
        ...cluster,
        era: '4.16',
        releaseImage: release.release,
        tls: await sampleTlsAssets({ ...cluster, seed: context.run, notBefore: parts.clock.now() }),
        trustBundle: ca === undefined ? '' : await readFile(pathAt(parts, context, ca), 'utf8'),
        pullSecret: side ? await readSecretFile(side.credentials.authFile, context) : '{"auths":{}}',
        digestSources: side ? await mirrorSourcesOf(parts, context, side) : [],
        ...(proxy && { proxy }),
      })
      const folder = await recordedFolder(context, 'install', 'bootstrap')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, 'bootstrap.ign'), text, { mode: 0o600 })
      return { file: 'run:work/install/bootstrap.ign' }
    },
  })
}

async function readSecretFile(path: string, context: StepContext): Promise<string> {
  const text = await readFile(path, 'utf8')
  context.hide(text)
  return text
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
