/** The last step of the quickstart: the bootstrap of a cluster behind this mirror, before there is a machine. */
import { readFile, writeFile } from 'node:fs/promises'
import type { Clock } from '../host/clock.ts'
import type { Env } from '../host/env.ts'
import type { Log } from '../host/log.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { sampleBootstrap } from '../quickstart/sample-bootstrap/bootstrap-config.ts'
import { sampleTlsAssets } from '../quickstart/sample-bootstrap/tls-assets.ts'
import type { RehearsalReport } from '../rehearse/rehearsal-report.ts'
import { rehearse } from '../rehearse/rehearse.ts'
import { ensure, notProven } from './quickstart-claim.ts'
import { mirrorName, type QuickstartSite } from './quickstart-site.ts'
import type { FactsOf } from './quickstart-steps.ts'
import { nodeConfOf } from './verify.ts'

interface RehearsedSite {
  readonly site: QuickstartSite
  /** By digest. */
  readonly release: Reference
  readonly clock: Clock
  readonly log: Log
  readonly env: Env
  readonly signal: AbortSignal
}

const cluster = { clusterName: 'demo', baseDomain: 'quickstart.test' }

/**
 * Of a cluster that has yet to be: with all that it needs, and without the CA of the mirror.
 *
 * @param components of the release, each an image that has to be pulled, as the release itself
 * @throws KnownError QUICKSTART_FAILED
 */
export async function proveRehearsal(about: RehearsedSite, components: number): Promise<FactsOf<'rehearsal'>> {
  const broken = await rehearseSite(about, false)
  const finding = broken.findings.find(({ id }) => id === 'rehearse.ca-unknown')
  if (!finding) throw notProven('a missing CA is found and named', { findings: broken.findings.length })
  const { stoppedAt } = broken.verdict
  const sound = await rehearseSite(about, true)
  const [unexpected] = sound.findings.filter(({ severity, id }) => severity === 'error' || !mayBeHere.has(id))
  ensure(unexpected === undefined, 'a sound bootstrap is rehearsed without a finding', { found: unexpected?.id ?? '' })
  const pulled = (sound.levelOne?.images ?? []).filter(({ nodes, bootstrap }) => (nodes ?? bootstrap)?.isPulled)
  const images = pulled.length
  ensure(images > components, 'every image can be pulled', { images })
  const stages = (sound.levelTwo?.units ?? []).reduce((sum, { stagesDone }) => sum + stagesDone.length, 0)
  const unavailable = sound.levelTwo?.unavailable
  const isComplete = unavailable !== undefined || sound.levelTwo?.isComplete === true
  ensure(isComplete, 'the scripts come to their end', { stages })
  const withoutTrust = { finding, ...(stoppedAt && { stoppedAt }) }
  return { step: 'rehearsal', images, stages, ...(unavailable !== undefined && { unavailable }), withoutTrust }
}

/** What a machine of the quickstart may lack, and what a sample release has none of. */
const mayBeHere = new Set(['rehearse.sandbox-unavailable', 'rehearse.signature-missing'])

/**
 * Makes the bootstrap.ign that the installer would make for this site, and rehearses it.
 *
 * @param isTrusting false leaves the CA of the mirror out of it
 */
async function rehearseSite(about: RehearsedSite, isTrusting: boolean): Promise<RehearsalReport> {
  const { site, release, clock, log, env, signal } = about
  const { files, mirror } = site
  const port = mirror.address.slice(mirror.address.lastIndexOf(':'))
  const asNamed = (text: string) => text.replaceAll(mirror.address, `${mirrorName}${port}`)
  const { registries } = await nodeConfOf(files.clusterResources)
  const digestSources = registries.map(({ prefix, mirrors }) => ({
    source: prefix,
    mirrors: [...new Set(mirrors.map(({ location }) => asNamed(location)))],
  }))
  const text = sampleBootstrap({
    ...cluster,
    era: '4.16',
    releaseImage: formatReference(release),
    tls: await sampleTlsAssets({ ...cluster, seed: 'quickstart', notBefore: clock.now() }),
    ...(isTrusting && { trustBundle: await readFile(files.ca, 'utf8') }),
    pullSecret: asNamed(await readFile(files.authFile, 'utf8')),
    digestSources,
  })
  await writeFile(files.bootstrap, text, { mode: 0o600 })
  const domain = `${cluster.clusterName}.${cluster.baseDomain}`
  const names = [mirrorName, `api.${domain}`, `api-int.${domain}`]
  const via = new Map(names.map((name) => [name, '127.0.0.1']))
  const settings = {
    clock,
    log,
    env,
    signal,
    via,
    timeoutMs: 5000,
    isConnected: false,
    accepted: [],
    level: 2,
  } as const
  return rehearse({ text, fileName: files.bootstrap }, settings)
}
