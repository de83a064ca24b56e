import { KnownError } from '../errors/known-error.ts'
import type { RunState } from '../journal/run-state.ts'
import type { SessionRequest } from '../workflow/engine.ts'

/**
 * Why a run that was exported is not gone on with here; undefined where it was not, or is back.
 *
 * @param runsFlag ` --runs DIR` as its user gave it, for the commands that are named
 */
export function runElsewhere(
  { run, workflow, exportedTo: file }: RunState,
  { runsFlag, mode }: { readonly runsFlag: string } & Pick<SessionRequest, 'mode'>,
): KnownError | undefined {
  if (file === undefined) return undefined
  const hint =
    mode === 'teardown'
      ? `Take down there what was made there; sallyport run teardown ${run}${runsFlag} --anyway takes away what this side has made.`
      : `Go on where it was imported. Where it never arrived, sallyport resume ${run}${runsFlag} --anyway goes on here, and sallyport run ${workflow} --new begins another.`
  return new KnownError('RUN_ELSEWHERE', `Run ${run} was exported to ${file}: two sides must not both go on`, {
    details: { run, file },
    hint,
  })
}
