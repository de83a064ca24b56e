/** `steps graph`: a workflow as nested boxes. */
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { writeStaged } from '../../store/staged-write.ts'
import { dotOfDrawing } from '../../workflow/step-registry/draw/dot.ts'
import { workflowDrawing } from '../../workflow/step-registry/draw/draw-workflow.ts'
import { drawSteps } from '../../workflow/step-registry/draw/svg.ts'
import type { Registered } from '../../workflow/step-registry/registry.ts'
import { resolveWorkflow } from '../../workflow/step-registry/resolve-test.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { count } from '../render/quantities.ts'
import { addStepRegistryOptions, openStepRegistry, type StepRegistryOptions } from '../step-registry-access.ts'
import { requireWorkflow } from '../step-registry-names.ts'

interface Options extends StepRegistryOptions {
  readonly format: 'svg' | 'dot'
  readonly output?: string
}

const details = `
A box for each phase and each chain in it, the steps in their order, observers beside them. Documentation and values are
tooltips. The SVG needs nothing else to be read, is light or dark as the reader has it, and a browser prints it. Graphviz
draws the other format, which has the structure of the pages of ci-operator.

Examples:
  sallyport steps graph ipi-aws --registry ci-operator/step-registry -o ipi-aws.svg
  sallyport steps graph ipi-aws --registry ci-operator/step-registry --format dot | dot -Tpng > ipi-aws.png`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('a picture of a workflow: its chains as nested boxes')
    .description('Draws a workflow.')
    .argument('<workflow>', 'a workflow of the registry')
  addStepRegistryOptions(command)
    .addOption(new Option('--format <name>', 'svg, or dot for Graphviz').choices(['svg', 'dot']).default('svg'))
    .option('-o, --output <file>', 'where to (default: standard output)')
    .addHelpText('after', details)
    .action(async (workflow: string, options: Options) => {
      host.done(await graph(workflow, options, host.context()))
    })
}

async function graph(name: string, options: Options, context: CliContext): Promise<number> {
  const { cwd, stdout, json } = context
  const { format, output } = options
  const registry = openStepRegistry(options, context)
  requireWorkflow(registry, name)
  const workflow = resolveWorkflow(registry, name)
  const documentation = documentationOf([...registry.references.values(), ...registry.observers.values()])
  const chains = documentationOf([...registry.chains.values()])
  const drawing = workflowDrawing(workflow, { documentation, chains })
  const text = format === 'dot' ? dotOfDrawing(drawing) : drawSteps(drawing)
  if (output !== undefined) await writeStaged(resolve(cwd, output), (file) => file.writeFile(text))
  const steps = drawing.phases.reduce((sum, phase) => sum + phase.steps.length, 0)
  if (json) stdout(`${JSON.stringify({ workflow: name, format, steps, ...(output ? { output } : { text }) })}\n`)
  else stdout(output === undefined ? text : `${output}: ${count(steps, 'step')}\n`)
  return 0
}

function documentationOf(parts: readonly Registered[]): ReadonlyMap<string, string> {
  return new Map(parts.flatMap(({ name, documentation }) => (documentation ? [[name, documentation]] : [])))
}
