/** `steps validate`: everything that is wrong with a step registry, at once. */
import type { Command } from 'commander'
import { checkRegistry } from '../../workflow/step-registry/check-registry.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderStepsValidation } from '../render/steps-validation.ts'
import { addStepRegistryOptions, readStepRegistry, type StepRegistryOptions } from '../step-registry-access.ts'

const details = `
Every file is held against the fields that there are, names against paths, and what chains and workflows name against what
there is; then every workflow is resolved. The words are those of ci-operator, which stops at the first fault.
Exit status: 0; 1 where a finding is an error.

Examples:
  sallyport steps validate --registry ci-operator/step-registry
  sallyport steps validate --registry ci-operator/step-registry --json | jq -r '.findings[] | [.where.file, .where.line, .summary] | @tsv'`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('is all of it sound: every fault at once, each with file and line')
    .description('Loads a step registry and resolves every workflow of it.')
  addStepRegistryOptions(command)
    .addHelpText('after', details)
    .action((options: StepRegistryOptions) => {
      host.done(validate(options, host.context()))
    })
}

function validate(options: StepRegistryOptions, { cwd, stdout, json }: CliContext): number {
  const registry = readStepRegistry(options, { cwd })
  const findings = checkRegistry(registry)
  const { references, chains, workflows, observers, hasScripts } = registry
  const counts = {
    references: references.size,
    chains: chains.size,
    workflows: workflows.size,
    observers: observers.size,
  }
  const report = { registry: options.registry, ...counts, hasScripts, findings }
  stdout(json ? `${JSON.stringify(report)}\n` : renderStepsValidation(report, cwd))
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0
}
