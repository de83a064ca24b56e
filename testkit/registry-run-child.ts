/** Runs a workflow of a step registry, for a test that kills it: `node registry-run-child.ts RUNS RESOLVED.json`. */
import { readFileSync } from 'node:fs'
import type { ResolvedWorkflow } from '../src/workflow/step-registry/model.ts'
import { trialIn } from './registry-run.ts'

const [runs = '', file = ''] = process.argv.slice(2)
const resolved = JSON.parse(readFileSync(file, 'utf8')) as ResolvedWorkflow
await trialIn(runs).run(resolved)
