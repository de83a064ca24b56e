import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyWorkflow, type ResolvedStep, type ResolvedWorkflow } from '../step-registry/model.ts'
import { exportableFromRegistry } from './exportable-from-registry.ts'

function workflowWith(names: readonly string[]): ResolvedWorkflow {
  const env = names.map((name) => ({ name, default: 'x' }))
  const image = { namespace: 'ocp', name: '4.20', tag: 'cli' }
  const step: ResolvedStep = {
    literal: { as: 's', commands: 'true', from_image: image, env },
    phase: 'pre',
    chainPath: [],
    parameters: [],
  }
  return { ...emptyWorkflow('w'), pre: [step] }
}

test('a variable that bash keeps for itself, or that is no name, is told', () => {
  const { findings } = exportableFromRegistry(workflowWith(['FINE', 'A.B', 'OPTIND', 'UID', '1A']))
  assert.deepEqual(
    findings.map(({ summary }) => summary),
    ['A.B', 'OPTIND', 'UID', '1A'].map((name) => `s: ${name} cannot be a variable of a shell script`),
  )
})
