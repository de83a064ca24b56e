/** Puts steps into their stages, with what `sallyport.yaml` says of each: time-out, retries, left out and why. */
import { parseDuration } from '../../config/duration.ts'
import type { SiteConfig } from '../../config/site-configuration.ts'
import { type StageName, stageNames, whyNotInVariant } from '../../config/site-stages.ts'
import type { StepDefinition, StepPolicy } from '../../workflow/step.ts'
import { type OutputReader, placeStep, type WorkflowStep } from '../../workflow/workflow.ts'
import { type HandWork, handStep } from './hand-steps.ts'

export interface StagePlace<Input> {
  /** `NN-STAGE/NAME` */
  readonly id: string
  readonly input: (of: OutputReader) => Input
  /** Why it is no part of this site, whatever the variant. */
  readonly skipWhy?: string | undefined
  /** What stands for it where the variant is asked: default its stage; `always` for what every variant needs. */
  readonly belongsTo?: StageName | 'always'
  /** Paths whose bytes belong to the input. */
  readonly files?: readonly string[]
}

export class StagePlacer {
  readonly #site: SiteConfig
  readonly #handWork: HandWork[] = []

  constructor(site: SiteConfig) {
    this.#site = site
  }

  get hasMirror(): boolean {
    return this.#site.mirror !== undefined && this.#site.variant !== 'proxy-only'
  }

  /** What a run of these steps stops at. */
  get handWork(): readonly HandWork[] {
    return this.#handWork
  }

  place<Input, Output>(definition: StepDefinition<Input, Output>, place: StagePlace<Input>): WorkflowStep {
    const { id, input, files } = place
    const stage = stageOf(id)
    const [group = ''] = id.split('/')
    const step = placeStep(definition, {
      id,
      phase: stage === 'verify' ? 'test' : stage === 'clean-up' ? 'post' : 'pre',
      groups: [group],
      policy: this.#policyOf(stage),
      input,
      ...(files && { files: () => files }),
    })
    const why = this.#whyNot(place)
    return why === undefined ? step : { ...step, skipWhy: why }
  }

  /** What has to be done by hand. */
  hand(work: HandWork, rules: Pick<StagePlace<object>, 'skipWhy' | 'belongsTo'> = {}): WorkflowStep {
    const step = this.place(handStep(work), { id: work.id, input: () => ({}), ...rules })
    if (step.skipWhy === undefined) this.#handWork.push(work)
    return step
  }

  #policyOf(stage: StageName): Partial<StepPolicy> {
    const { timeout, retries } = this.#site.stages[stage] ?? {}
    const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout)
    return {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(retries !== undefined && { retry: { attempts: retries + 1, firstDelayMs: 10_000 } }),
    }
  }

  #whyNot({ id, skipWhy, belongsTo = stageOf(id) }: Pick<StagePlace<object>, 'id' | 'skipWhy' | 'belongsTo'>) {
    const { variant, stages } = this.#site
    const asked = stages[stageOf(id)]?.skip
    if (asked !== undefined) return `sallyport.yaml: ${asked}`
    if (belongsTo === 'always') return skipWhy
    return whyNotInVariant(belongsTo, { variant, hasMirror: this.hasMirror }) ?? skipWhy
  }
}

function stageOf(id: string): StageName {
  return stageNames[Number(id.slice(0, 2)) - 1] ?? 'infrastructure'
}
