/** Stage 06: what is asked for, out of the registries, across the gap, into the mirror. */
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { renderRegistriesConf } from '../../registries/render.ts'
import { isThere } from '../../store/presence.ts'
import { defineStep, type StepContext, type StepExpectation } from '../../workflow/step.ts'
import { nodeConfOf } from '../verify.ts'
import { CredentialsMade, MirrorMade } from './bastion-outputs.ts'
import { Collected, Loaded } from './mirror-outputs.ts'
import { contentPlace, pathAt } from './places.ts'
import { trustOf, withReleaseAccess } from './release-access.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { runSallyport, type StageParts } from './stage-parts.ts'

const aDay = 24 * 60 * 60_000
/** A registry that is busy, a line that is cut: worth trying again, what arrived is kept. */
const patiently = { timeoutMs: aDay, retry: { attempts: 5, firstDelayMs: 30_000 } }

/** Of a real site only the registries know; of a lab it is its release. */
function contentSize({ labBytes, site }: StageParts): StepExpectation {
  if (labBytes === undefined) {
    const imageSet = site.mirror?.imageSet ?? 'IMAGESET'
    return { notes: [`how many bytes: sallyport mirror -c ${imageSet} --dry-run file://DIR`] }
  }
  const bytes = labBytes()
  return { bytes, diskBytes: bytes }
}

/**
 * Always into an archive, also where one machine reaches both sides: what is verified on arrival is what was collected, a
 * broken load begins again without the outside, and there is one path to trust. It costs the disk for it.
 */
export function collectStep(parts: StageParts) {
  return defineStep({
    title: 'the release and its images, into an archive',
    version: 1,
    where: 'connected',
    input: z.strictObject({ release: ReleaseKnown, imageSet: z.string() }),
    output: Collected,
    expect: () => Promise.resolve({ files: [contentPlace(parts, 'archive')], ...contentSize(parts) }),
    policy: patiently,
    async apply({ release, imageSet }, context) {
      const archive = contentPlace(parts, 'archive')
      const directory = pathAt(parts, context, archive)
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const answer = await withReleaseAccess(release, context, ({ words: access, env }) => {
        const words = ['mirror', '-c', pathAt(parts, context, imageSet), ...access, '--quiet', `file://${directory}`]
        return runSallyport(parts, context, { where: 'connected', words, env })
      })
      const { archive: written } = Written.parse(answer)
      return { archive, ...(written && { checksum: written.checksum }) }
    },
  })
}

/** Absent where nothing had to be carried. */
const Written = z.object({ archive: z.object({ checksum: z.string() }).optional() })

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
      const directory = pathAt(parts, context, collected.archive)
      await stat(directory).catch((cause: unknown) => {
        throw new KnownError('STEP_FAILED', `The archive has not arrived: there is no ${directory}`, {
          hint: arrivalHint(parts, context.run, directory),
          details: { directory },
          cause,
        })
      })
      const words = ['archive', 'verify', directory]
      await runSallyport(parts, context, { where: 'bastion', words }).catch((error: unknown) => {
        if (!(error instanceof KnownError)) throw error
        // What was carried once is not carried again: collecting into a damaged archive would leave it as it is.
        const anew = `Where this machine reaches the release: rm -r ${directory}, and ${collectAgain(context.run)} anew.`
        const hint = parts.openLab === undefined && error.hint !== undefined ? `${error.hint} ${anew}` : anew
        throw new KnownError('STEP_FAILED', error.message, { hint, cause: error })
      })
      return collected
    },
  })
}

/** One for each mirror: what leads nodes to one that was named here before would lead them there still. */
function workspaceOf(parts: StageParts): string {
  const name = parts.site.mirror?.registry.replaceAll(/[:/]/g, '-') ?? ''
  return `${contentPlace(parts, 'workspace')}/${name}`
}

function arrivalHint({ openLab }: StageParts, run: string, directory: string): string {
  const again = `${collectAgain(run)} anew`
  if (openLab !== undefined) return `${again}.`
  return `Copy the directory of the other side to ${directory} and run the same command again; where this machine reaches the release, ${again}.`
}

function collectAgain(run: string): string {
  return `sallyport resume ${run} --rerun 06-mirror-images/collect makes it`
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
      release: ReleaseKnown,
    }),
    output: Loaded,
    expect: () => {
      const { notes: _, ...size } = contentSize(parts)
      return Promise.resolve({ files: [workspaceOf(parts)], ...size })
    },
    policy: patiently,
    async apply({ collected, mirror, credentials, release }, context) {
      const workspace = workspaceOf(parts)
      const directory = pathAt(parts, context, workspace)
      const to = [...mirrorWords(parts, context, { mirror, credentials }), '--quiet']
      const from = `file://${pathAt(parts, context, collected.archive)}`
      const words = ['mirror', '--from', from, '--workspace', `file://${directory}`, ...to, reachedTarget(mirror)]
      await runSallyport(parts, context, { where: 'bastion', words, env: trustOf(release) })
      const conf = await nodeConfOf(join(directory, 'working-dir', 'cluster-resources'))
      await writeFile(join(directory, 'node-registries.conf'), renderRegistriesConf(conf))
      const clusterResources = `${workspace}/working-dir/cluster-resources`
      return { workspace, clusterResources, registriesConf: `${workspace}/node-registries.conf` }
    },
    holds: (_, output, context) => isThere(pathAt(parts, context, Loaded.parse(output).registriesConf)),
  })
}

export interface MirrorDoor {
  readonly mirror: MirrorMade
  readonly credentials: CredentialsMade
}

/** The words by which a command gets into the mirror. */
export function mirrorWords(
  parts: StageParts,
  context: Pick<StepContext, 'directories'>,
  { mirror, credentials }: MirrorDoor,
): readonly string[] {
  const ca = mirror.ca === undefined ? [] : ['--ca', pathAt(parts, context, mirror.ca)]
  return ['--authfile', credentials.authFile, ...ca]
}

/** `docker://HOST:PORT/PATH`, as this machine comes to it. */
export function reachedTarget({ registry, target, reached }: MirrorMade): string {
  return `docker://${reached === undefined ? target : target.replace(registry, reached)}`
}
