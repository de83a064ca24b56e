/** Which steps a new run would come to, by what is asked for alone. */
import type { SessionRequest } from './engine.ts'
import type { Workflow, WorkflowStep } from './workflow.ts'

/** Of a session: which steps are wanted. */
export type SessionAim = Partial<Pick<SessionRequest, 'from' | 'until' | 'only' | 'skip' | 'markDone' | 'sites'>>

/** Before the teardown, in their order. */
export function aimedSteps({ steps }: Workflow, aim: SessionAim): readonly WorkflowStep[] {
  const { from, until, only, skip = [], markDone = [], sites } = aim
  const done = new Set([...skip, ...markDone].map(({ step }) => step))
  const at = (id: string) => steps.findIndex(({ outline }) => outline.id === id)
  const first = from === undefined ? 0 : at(from)
  const last = until === undefined ? steps.length : at(until)
  return steps.filter(({ outline: { id, phase, where } }, index) => {
    if (phase === 'post' || done.has(id)) return false
    if (only !== undefined) return id === only
    return index >= first && index <= last && (where === undefined || sites === undefined || sites.has(where))
  })
}
