/** `steps show`: one part of a step registry, and who uses it. */
import type { Command } from 'commander'
import { ownersOf } from '../../workflow/step-registry/owners.ts'
import { printedStep } from '../../workflow/step-registry/printed-literal.ts'
import type { Registry } from '../../workflow/step-registry/registry.ts'
import { ancestorsOf, type RegistryNode } from '../../workflow/step-registry/registry-graph.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderStepsPart, type ShownPart } from '../render/steps-part.ts'
import {
  addStepRegistryOptions,
  type FoundPart,
  openStepRegistry,
  type StepRegistryOptions,
} from '../step-registry-access.ts'
import { findParts } from '../step-registry-names.ts'

const details = `
A step and a chain may share a name: ref/NAME, chain/NAME, workflow/NAME or observer/NAME tells them apart; NAME shows all.

Examples:
  sallyport steps show ipi-install-install --registry ci-operator/step-registry
  sallyport steps show chain/ipi-install --registry ci-operator/step-registry --json | jq '.parts[].usedBy'`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('documentation, parameters, script, owners of a part, and what uses it')
    .description('Shows a step, a chain, a workflow or an observer.')
    .argument('<name>', 'NAME, or KIND/NAME')
  addStepRegistryOptions(command)
    .addHelpText('after', details)
    .action((name: string, options: StepRegistryOptions) => {
      host.done(show(name, options, host.context()))
    })
}

function show(name: string, options: StepRegistryOptions, context: CliContext): number {
  const { stdout, json } = context
  const registry = openStepRegistry(options, context)
  const parts = findParts(registry, name).map((found) => shownPart(registry, found))
  stdout(json ? `${JSON.stringify({ parts })}\n` : parts.map(renderStepsPart).join('\n'))
  return 0
}

function shownPart(registry: Registry, { kind, part }: FoundPart): ShownPart {
  const { name, file, documentation } = part
  const { content, script } = contentOf(registry, { kind, name })
  return {
    kind,
    name,
    file,
    documentation,
    content,
    script: registry.hasScripts ? script : undefined,
    usedBy: ancestorsOf(registry, { kind, name }),
    owners: ownersOf(file, registry.root),
  }
}

type Content = Pick<ShownPart, 'content' | 'script'>

function contentOf({ references, chains, workflows, observers }: Registry, { kind, name }: RegistryNode): Content {
  if (kind === 'ref') {
    const { commands, ...step } = references.get(name)?.step ?? { as: name, commands: '' }
    return { content: printedStep({ ...step, commands: '' }), script: commands }
  }
  if (kind === 'observer') {
    const { commands, ...observer } = observers.get(name)?.observer ?? { name, commands: '' }
    return { content: observer, script: commands }
  }
  const { steps, env, leases } = chains.get(name) ?? {}
  const content = kind === 'chain' ? { steps, env, leases } : { ...workflows.get(name)?.steps }
  return { content, script: undefined }
}
