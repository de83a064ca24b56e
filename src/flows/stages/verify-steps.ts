/** Stage 09 on every platform that has a mirror: everything is there, and nothing would be pulled from elsewhere. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { defineStep } from '../../workflow/step.ts'
import { Verified } from './install-outputs.ts'
import { mirrorWords, reachedTarget } from './mirror-steps.ts'
import { pathAt } from './places.ts'
import { MirrorSide } from './prepare-steps.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { runSallyport, type StageParts } from './stage-parts.ts'

const VerifyInput = z.strictObject({ release: ReleaseKnown, side: MirrorSide })

/** Stage 09: everything that was mirrored is there, every byte. */
export function verifyMirrorStep(parts: StageParts) {
  return defineStep({
    title: 'everything is at the mirror, every byte read back',
    version: 1,
    where: 'closed',
    input: VerifyInput,
    output: Verified,
    policy: { timeoutMs: 12 * 60 * 60_000 },
    async apply({ side }, context) {
      const report = join(context.directories.artifacts, 'verify-mirror.json')
      const place = ['--workspace', pathAt(parts, context, side.loaded.workspace), reachedTarget(side.mirror)]
      const words = ['verify', 'mirror', '--deep', ...mirrorWords(parts, context, side), ...place]
      const answer = await runSallyport(parts, context, { where: 'closed', words }).catch((error: unknown) => {
        if (!(error instanceof KnownError)) throw error
        const hint = `sallyport resume ${context.run} --rerun 06-mirror-images/load sends what is missing or damaged once more.`
        throw new KnownError('STEP_FAILED', error.message, { hint, cause: error })
      })
      await writeFile(report, `${JSON.stringify(answer, undefined, 2)}\n`)
      return { report, checked: Number(answer['images'] ?? 0) }
    },
  })
}

/** Stage 09: no image of the release would be pulled from outside. */
export function verifyEgressStep(parts: StageParts) {
  return defineStep({
    title: 'no image would be pulled from outside',
    version: 1,
    where: 'closed',
    input: VerifyInput,
    output: Verified,
    policy: { timeoutMs: 2 * 60 * 60_000 },
    async apply({ release, side }, context) {
      const report = join(context.directories.artifacts, 'verify-egress.json')
      const what = ['--workspace', pathAt(parts, context, side.loaded.workspace), '--release', release.release]
      const access = [...mirrorWords(parts, context, side), '--inside', side.mirror.reached ?? side.mirror.registry]
      const answer = await runSallyport(parts, context, {
        where: 'closed',
        words: ['verify', 'egress', ...what, ...access],
      })
      await writeFile(report, `${JSON.stringify(answer, undefined, 2)}\n`)
      return { report, checked: Number(answer['references'] ?? 0) }
    },
  })
}
