/** `steps resolve`: the flat list of steps that a workflow or a test is, and who decides each value. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { KnownError } from '../../errors/known-error.ts'
import { checkTests } from '../../workflow/step-registry/check-test.ts'
import { printedConfiguration } from '../../workflow/step-registry/printed-literal.ts'
import type { Registry } from '../../workflow/step-registry/registry.ts'
import {
  type CiOperatorConfig,
  readCiOperatorConfig,
  resolveConfig,
} from '../../workflow/step-registry/resolve-config.ts'
import { examineTest, examineWorkflow, type Resolution } from '../../workflow/step-registry/resolve-test.ts'
import { stepErrorText } from '../../workflow/step-registry/step-error.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderFindings } from '../render/findings.ts'
import { stepProvenance } from '../render/steps-provenance.ts'
import { renderResolution } from '../render/steps-resolution.ts'
import { collectNamed } from '../repeated-values.ts'
import { addStepRegistryOptions, openStepRegistry, type StepRegistryOptions } from '../step-registry-access.ts'
import { requireWorkflow } from '../step-registry-names.ts'

interface Options extends StepRegistryOptions {
  readonly config?: string
  readonly test?: string
  readonly env?: Readonly<Record<string, string>>
}

const details = `
Of every parameter the outermost value wins: --env, then the test, the workflow, the outer chain, the inner chain, the default
of the step. Only a step that declares a parameter gets it.
A workflow alone may leave parameters open; a test of a ci-operator config (--config, --test) may not. With --config and no
--test, every test is resolved, and --json prints the config as ci-operator-configresolver prints it.
Exit status: 0; 1 where something cannot be resolved; 78 where the config does not load.

Examples:
  sallyport steps resolve ipi-aws --registry ci-operator/step-registry
  sallyport steps resolve ipi-aws --registry ci-operator/step-registry --env COMPUTE_NODE_REPLICAS=2
  sallyport steps resolve --registry ci-operator/step-registry --config config.yaml --test e2e-aws
  sallyport steps resolve ipi-aws --registry ci-operator/step-registry --json | jq '.resolved.pre[].as'`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('the steps of a workflow or a test in their order, and who decides each value')
    .description('Resolves a workflow, or the tests of a ci-operator config, as ci-operator does.')
    .argument('[workflow]', 'a workflow of the registry')
  addStepRegistryOptions(command)
    .option('--config <file>', 'a ci-operator config, instead of a workflow')
    .option('--test <name>', 'one test of that config')
    .option('--env <name=value>', 'a value for a parameter, above all others; again for another', collectNamed)
    .addHelpText('after', details)
    .action(async (workflow: string | undefined, options: Options) => {
      host.done(await run(workflow, options, host.context()))
    })
}

async function run(workflow: string | undefined, options: Options, context: CliContext): Promise<number> {
  const { config: file, test, env = {} } = options
  if ((workflow === undefined) === (file === undefined)) {
    throw new KnownError('USAGE', 'Name either a workflow, or a ci-operator config with --config')
  }
  if (test !== undefined && file === undefined) throw new KnownError('USAGE', '--test goes with --config')
  const registry = openStepRegistry(options, context)
  if (workflow !== undefined) {
    requireWorkflow(registry, workflow)
    return tell({ workflow }, examineWorkflow(registry, workflow, { env }), context)
  }
  const path = file ?? ''
  const config = readCiOperatorConfig(path, await readTextFile(resolve(context.cwd, path)))
  if (test === undefined) return tellConfig(registry, config, context)
  const named = config.tests.find(({ name }) => name === test)?.resolvable
  if (named === undefined) {
    const names = config.tests.flatMap(({ name, resolvable }) => (resolvable === undefined ? [] : [name]))
    throw new KnownError('STEPS_UNKNOWN', `${path} has no test named ${test} with steps`, {
      hint: `It has: ${names.join(', ') || 'none'}.`,
    })
  }
  const steps = { ...named.steps, env: { ...named.steps.env, ...env } }
  return tell({ test }, examineTest(registry, { name: named.name, steps }), context)
}

function tell(what: { workflow: string } | { test: string }, resolution: Resolution, context: CliContext): number {
  const { stdout, json } = context
  const errors = resolution.errors.map(stepErrorText)
  const document = {
    ...what,
    errors,
    resolved: printedConfiguration(resolution),
    provenance: stepProvenance(resolution.workflow),
  }
  stdout(json ? `${JSON.stringify(document)}\n` : renderResolution(resolution, errors))
  return errors.length > 0 ? 1 : 0
}

function tellConfig(registry: Registry, config: CiOperatorConfig, { stdout, json }: CliContext): number {
  const { document, findings: unresolved } = resolveConfig(registry, config)
  const findings = [...checkTests(config), ...unresolved]
  if (json) stdout(`${JSON.stringify(findings.length === 0 ? document : { findings })}\n`)
  else {
    const resolved = config.tests.flatMap(({ resolvable }) => (resolvable ? [examineTest(registry, resolvable)] : []))
    stdout(resolved.map((one) => renderResolution(one, one.errors.map(stepErrorText))).join('\n'))
    if (findings.length > 0) stdout(`\n${renderFindings(findings)}`)
  }
  return findings.length === 0 ? 0 : 1
}
