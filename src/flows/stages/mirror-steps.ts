/** Stage 06: what is asked for, out of the registries, across the gap, into the mirror. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { renderRegistriesConf } from '../../registries/render.ts'
import { defineStep } from '../../workflow/step.ts'
import { nodeConfOf } from '../verify.ts'
import { CredentialsMade, MirrorMade } from './bastion-outputs.ts'
import { UpstreamMade } from './infrastructure-outputs.ts'
import { trustOf } from './infrastructure-steps.ts'
import { Collected, Loaded } from './mirror-outputs.ts'
import { labOf, runSallyport, type StageParts } from './stage-parts.ts'

const aDay = 24 * 60 * 60_000
/** A registry that is busy, a line that is cut: worth trying again, what arrived is kept. */
const patiently = { timeoutMs: aDay, retry: { attempts: 5, firstDelayMs: 30_000 } }

export function collectStep(parts: StageParts) {
  return defineStep({
    title: 'the release and its images, into an archive',
    version: 1,
    where: 'connected',
    input: z.strictObject({ upstream: UpstreamMade, imageSet: z.string() }),
    output: Collected,
    policy: patiently,
    async apply({ upstream, imageSet }, context) {
      const archive = join((await labOf(parts, context)).settings.directory, 'archive')
      await mkdir(archive, { recursive: true, mode: 0o700 })
      const from = ['--ca', upstream.ca, '--registries-conf', upstream.registriesConf]
      const words = ['mirror', '-c', imageSet, ...from, '--quiet', `file://${archive}`]
      await runSallyport(parts, context, { where: 'connected', words, env: trustOf(upstream) })
      return { archive }
    },
  })
}

/** On arrival, before a byte of it is used. */
export function arrivalStep(parts: StageParts) {
  return defineStep({
    title: 'the archive, proven on arrival',
    version: 1,
    where: 'bastion',
    input: z.strictObject({ collected: Collected }),
    output: Collected,
    policy: { timeoutMs: aDay },
    async apply({ collected }, context) {
      await runSallyport(parts, context, { where: 'bastion', words: ['archive', 'verify', collected.archive] })
      return collected
    },
  })
}

export function loadStep(parts: StageParts) {
  return defineStep({
    title: 'the archive, into the mirror; what leads nodes to it',
    version: 1,
    where: 'bastion',
    input: z.strictObject({
      collected: Collected,
      mirror: MirrorMade,
      credentials: CredentialsMade,
      upstream: UpstreamMade,
    }),
    output: Loaded,
    policy: patiently,
    async apply({ collected, mirror, credentials, upstream }, context) {
      const workspace = join((await labOf(parts, context)).settings.directory, 'workspace')
      const to = ['--authfile', credentials.authFile, '--ca', mirror.ca, '--quiet']
      const place = ['--from', `file://${collected.archive}`, '--workspace', `file://${workspace}`]
      const words = ['mirror', ...place, ...to, `docker://${mirror.target}`]
      await runSallyport(parts, context, { where: 'bastion', words, env: trustOf(upstream) })
      const clusterResources = join(workspace, 'working-dir', 'cluster-resources')
      const registriesConf = join(workspace, 'node-registries.conf')
      await writeFile(registriesConf, renderRegistriesConf(await nodeConfOf(clusterResources)))
      return { workspace, clusterResources, registriesConf }
    },
  })
}
