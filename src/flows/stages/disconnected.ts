/** The built-in workflow `disconnected`: the ten stages of one site, in their order. */
import type { SiteConfig } from '../../config/site-configuration.ts'
import type { TeardownPolicy, Workflow } from '../../workflow/workflow.ts'
import { labStages } from './lab-stages.ts'
import { siteStages } from './site-stages.ts'
import { stageUndo } from './site-undo.ts'
import type { StageParts } from './stage-parts.ts'

export function disconnectedWorkflow(parts: StageParts): Workflow {
  const { site } = parts
  return {
    name: 'disconnected',
    steps: site.platform.lab === undefined ? siteStages(parts) : labStages(parts),
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
