/** Runs a workflow of a step registry, for a test that kills it: `node registry-run-child.ts RUNS FILE`. */
import { readFileSync } from 'node:fs'
import type { RegistryRunOptions } from '../src/workflow/registry-run/run-options.ts'
import type { ResolvedWorkflow } from '../src/workflow/step-registry/model.ts'
import { trialIn } from './registry-run.ts'

export interface ChildOrder {
  readonly resolved: ResolvedWorkflow
  readonly options: Partial<RegistryRunOptions>
}

const [runs = '', file = ''] = process.argv.slice(2)
const { resolved, options } = JSON.parse(readFileSync(file, 'utf8')) as ChildOrder
await trialIn(runs).run(resolved, options)
