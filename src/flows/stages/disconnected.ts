/** The built-in workflow `disconnected`: the ten stages of one site, in their order. */
import type { SiteConfig } from '../../config/site-configuration.ts'
import type { Finding } from '../../errors/finding.ts'
import type { TeardownPolicy, Workflow } from '../../workflow/workflow.ts'
import { labStages } from './lab-stages.ts'
import { siteStages } from './site-stages.ts'
import { stageUndo } from './site-undo.ts'
import type { StageParts } from './stage-parts.ts'

/** A workflow, and what is known to stop it. */
export interface StagedWorkflow extends Workflow {
  readonly findings: readonly Finding[]
}

export function disconnectedWorkflow(parts: StageParts): StagedWorkflow {
  const { site } = parts
  const stages = site.platform.lab === undefined ? siteStages(parts) : { steps: labStages(parts), findings: [] }
  return {
    name: 'disconnected',
    ...stages,
    observers: [],
    undo: stageUndo(parts),
    teardown: teardownOf(site),
    leases: [`site ${site.name}.${site.baseDomain}`],
  }
}

/** Whoever is asked is asked by the command line; here nobody is. */
function teardownOf({ teardown }: SiteConfig): TeardownPolicy {
  return teardown === 'ask' ? 'never' : teardown
}
