/** `steps export`: a workflow for those who have no sallyport where it is to run. */

import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { writeStaged } from '../../store/staged-write.ts'
import { exportableFromRegistry } from '../../workflow/export/exportable-from-registry.ts'
import { type ExportableWorkflow, startingAt } from '../../workflow/export/exportable-workflow.ts'
import { type ExportForm, exportForms, formLosses } from '../../workflow/export/form-losses.ts'
import { jobsScript } from '../../workflow/export/jobs/jobs-script.ts'
import { shellScript } from '../../workflow/export/shell/shell-script.ts'
import { tektonYaml } from '../../workflow/export/tekton/tekton-yaml.ts'
import type { Registry } from '../../workflow/step-registry/registry.ts'
import { resolveWorkflow } from '../../workflow/step-registry/resolve-test.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { tellFindings } from '../render/findings.ts'
import { count } from '../render/quantities.ts'
import { collectNamed } from '../repeated-values.ts'
import { addStepRegistryOptions, openStepRegistry, type StepRegistryOptions } from '../step-registry-access.ts'
import { requireWorkflow } from '../step-registry-names.ts'

type Values = Readonly<Record<string, string>>

interface Options extends StepRegistryOptions {
  readonly to: ExportForm
  readonly output?: string
  readonly from?: string
  readonly env?: Values
  readonly image?: Values
}

const details = `
tekton: ConfigMaps, a claim, a Pipeline (tekton.dev/v1, 1.13 or newer) and a PipelineRun to start, as YAML.
jobs:   a bash script with all objects in it, which makes a Job for each step in order by kubectl; --print shows them.
shell:  a bash script that runs the steps on this machine.
Each keeps the rules of ci-operator: a failure in pre leaves out test, post runs always, and best effort is forgiven. What a
form cannot keep is told on standard error, and in docs/export.md.

Examples:
  sallyport steps export ipi-aws --registry ci-operator/step-registry --to shell -o run.sh
  sallyport steps export ipi-aws --registry ci-operator/step-registry --to tekton --image cli=registry.lab:5000/ocp/cli | kubectl apply -f -
  sallyport steps export ipi-aws --registry ci-operator/step-registry --to jobs --from ipi-install-install -o jobs.sh`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('a workflow as a Tekton Pipeline, as Jobs of Kubernetes, or as one shell script')
    .description('Writes a workflow in a form that runs without sallyport.')
    .argument('<workflow>', 'a workflow of the registry')
  addStepRegistryOptions(command)
    .addOption(new Option('--to <form>', 'tekton, jobs or shell').choices(exportForms).makeOptionMandatory())
    .option('-o, --output <file>', 'where to (default: standard output)')
    .option('--from <step>', 'leave out what stands before this step; post is always there')
    .option('--env <name=value>', 'a value for a parameter, above all others; again for another', collectNamed)
    .option('--image <name=pullspec>', 'the image for steps that say "from: NAME"; again for another', collectNamed)
    .addHelpText('after', details)
    .action(async (workflow: string, options: Options) => {
      host.done(await exportWorkflow(workflow, options, host.context()))
    })
}

const writers: Readonly<Record<ExportForm, (workflow: ExportableWorkflow) => string>> = {
  tekton: tektonYaml,
  jobs: jobsScript,
  shell: shellScript,
}

async function exportWorkflow(name: string, options: Options, context: CliContext): Promise<number> {
  const { stdout, stderr, json } = context
  const { to, output } = options
  const { workflow, findings: lost } = exportable(name, options, context)
  const findings = [...lost, ...formLosses(to, workflow)]
  const isWritable = !findings.some(({ severity }) => severity === 'error')
  const text = isWritable ? writers[to](workflow) : ''
  if (isWritable && output !== undefined) {
    const mode = to === 'tekton' ? undefined : 0o777
    await writeStaged(resolve(context.cwd, output), (file) => file.writeFile(text), mode)
  }
  const steps = workflow.steps.length
  if (json) {
    stdout(`${JSON.stringify({ workflow: name, to, steps, findings, ...(output ? { output } : { text }) })}\n`)
    return isWritable ? 0 : 1
  }
  tellFindings(findings, context)
  if (!isWritable) stderr('nothing was written\n')
  else stdout(output === undefined ? text : `${output}: ${count(steps, 'step')}\n`)
  return isWritable ? 0 : 1
}

function exportable(name: string, options: Options, context: CliContext): ReturnType<typeof exportableFromRegistry> {
  const { from, env = {}, image: images = {} } = options
  if (options.withoutScripts) throw new KnownError('USAGE', 'An export is made of the scripts: not --without-scripts')
  const registry = openStepRegistry(options, context)
  requireWorkflow(registry, name)
  const isBeside = besideParameters(registry, name)
  const resolved = resolveWorkflow(registry, name, { env: entriesOf(env, (key) => !isBeside(key)) })
  const exported = exportableFromRegistry(resolved, { images, env: entriesOf(env, isBeside) })
  if (from === undefined) return exported
  const workflow = startingAt(exported.workflow, from)
  if (workflow === undefined)
    throw new KnownError('STEPS_UNKNOWN', `${name} has no step named ${from}`, {
      details: { name: from },
      hint: `sallyport steps resolve ${name} lists its steps in their order.`,
    })
  return { ...exported, workflow }
}

/** Variables that are no parameter of a step, but a dependency or a lease: the resolver does not know them. */
function besideParameters(registry: Registry, name: string): (variable: string) => boolean {
  const resolved = resolveWorkflow(registry, name)
  const { pre, test, post } = resolved
  const declared = [...pre, ...test, ...post].flatMap(({ parameters }) => parameters.map((one) => one.name))
  const all = exportableFromRegistry(resolved).workflow.steps.flatMap(({ env }) => env.map((one) => one.name))
  return (variable) => all.includes(variable) && !declared.includes(variable)
}

function entriesOf(values: Values, isWanted: (name: string) => boolean): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isWanted(name)))
}
