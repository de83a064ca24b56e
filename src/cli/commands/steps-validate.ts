/** `steps validate`: everything that is wrong with a step registry, at once. */
import type { Command } from 'commander'
import type { Finding } from '../../errors/finding.ts'
import { checkRegistry } from '../../workflow/step-registry/check-registry.ts'
import { lintRegistry } from '../../workflow/step-registry/lint/lint.ts'
import type { LintFinding, LintRule } from '../../workflow/step-registry/lint/lint-finding.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderStepsValidation } from '../render/steps-validation.ts'
import { addStepRegistryOptions, readStepRegistry, type StepRegistryOptions } from '../step-registry-access.ts'

interface Options extends StepRegistryOptions {
  readonly lint?: boolean
}

const details = `
Every file is held against the fields that there are, names against paths, and what chains and workflows name against what
there is; then every workflow is resolved. The words are those of ci-operator, which stops at the first fault.
--lint adds what ci-operator accepts, and what goes wrong sooner or later: docs/steps-lint.md.
Exit status: 0; 1 where a finding is an error.

Examples:
  sallyport steps validate --registry ci-operator/step-registry
  sallyport steps validate --registry ci-operator/step-registry --lint
  sallyport steps validate --registry ci-operator/step-registry --json | jq -r '.findings[] | [.where.file, .where.line, .summary] | @tsv'`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('is all of it sound: every fault at once, each with file and line')
    .description('Loads a step registry and resolves every workflow of it.')
  addStepRegistryOptions(command)
    .option('--lint', 'also what is no fault, and should not be so')
    .addHelpText('after', details)
    .action((options: Options) => {
      host.done(validate(options, host.context()))
    })
}

function validate(options: Options, { cwd, stdout, json }: CliContext): number {
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
  const lint = options.lint === true ? withoutRefused(lintRegistry(registry), findings) : undefined
  const told = { ...report, ...(lint && { lint }) }
  stdout(json ? `${JSON.stringify(told)}\n` : renderStepsValidation(told, cwd))
  return [...findings, ...(lint ?? [])].some(({ severity }) => severity === 'error') ? 1 : 0
}

/** Rules of ci-operator, too: where it refuses the file, that was said in its own words. */
const refusedToo: ReadonlySet<LintRule> = new Set(['steps.best-effort-without-timeout', 'steps.trap-without-grace'])

function withoutRefused(lint: readonly LintFinding[], findings: readonly Finding[]): readonly LintFinding[] {
  const refused = new Set(findings.map(({ where }) => where?.file))
  return lint.filter(({ id, where }) => !(refusedToo.has(id) && refused.has(where?.file)))
}
