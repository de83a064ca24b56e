/** What Sallyport cannot do on a platform yet: it says so, and what to do instead. */
import { join } from 'node:path'
import { z } from 'zod'
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { Site } from '../../journal/events.ts'
import { defineStep } from '../../workflow/step.ts'

export interface HandWork {
  /** Id of the step. */
  readonly id: string
  readonly title: string
  readonly where: Site
  /** What there is no provider for. */
  readonly why: string
  /** What a person does: the exact command, where there is one. ASSETS: the directory of what the installer has made. */
  readonly todo: string
}

/** Fails at once: whoever has done it by hand says so, and the run goes on. */
export function handStep({ id, title, where, why, todo }: HandWork) {
  return defineStep({
    title,
    version: 1,
    where,
    input: z.strictObject({}),
    output: z.strictObject({}),
    expect: () => Promise.resolve({ notes: [`by hand: ${why}. ${withAssets(todo)}`] }),
    apply: (_, { run, directories }) =>
      Promise.reject(
        new KnownError('STAGE_UNAVAILABLE', why, {
          hint: `${withAssets(todo, join(directories.run, assetsFolder))} Then: sallyport resume ${run} --mark-done ${id} --reason 'done by hand'`,
          details: { step: id },
        }),
      ),
  })
}

/** To be told before anything is begun. */
export function handFinding({ id, why, todo }: HandWork): Finding {
  return finding({
    id: 'stage.by-hand',
    severity: 'warning',
    summary: `${id} stops the run: ${why}`,
    remedy: `${withAssets(todo)} Say so when it is done: --mark-done ${id} --reason WHY`,
  })
}

const assetsFolder = 'work/install/assets'

/** Before there is a run nobody knows its directory. */
function withAssets(todo: string, assets = `RUN/${assetsFolder}`): string {
  return todo.replaceAll('ASSETS', assets)
}
