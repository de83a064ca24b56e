/**
 * Everything that is wrong with a registry, at once (openshift/ci-tools: pkg/load/load.go `Registry`, pkg/registry
 * `NewGraph` and `Validate`, pkg/validation `IsValidReference`, each of which stops the next).
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { checkObserver, checkStep } from './check-step.ts'
import { faultyFiles } from './faulty-files.ts'
import type { FieldPath } from './field-shape.ts'
import { type PlaceOf, placesInFiles } from './file-places.ts'
import { phases } from './model.ts'
import type { Registered, Registry, TestStep } from './registry.ts'
import { childrenOf, type RegistryNode } from './registry-graph.ts'
import { resolveChain } from './resolve-steps.ts'
import { examineWorkflow } from './resolve-test.ts'
import { type StepError, stepErrorText } from './step-error.ts'

/** Those of loading first, then of references between files, of values, and of single steps. */
export function checkRegistry(registry: Registry): readonly Finding[] {
  const placeOf = placesInFiles()
  const faulty = faultyFiles(registry)
  const dangling = nodesOf(registry).flatMap((node) => danglingFindings(registry, node, { placeOf, faulty }))
  return [...registry.findings, ...dangling, ...valueFindings(registry, placeOf), ...stepFindings(registry, placeOf)]
}

type PlacedNode = RegistryNode & { readonly registered: Registered }

function nodesOf({ chains, workflows }: Registry): readonly PlacedNode[] {
  return [
    ...[...chains].map(([name, registered]) => ({ kind: 'chain' as const, name, registered })),
    ...[...workflows].map(([name, registered]) => ({ kind: 'workflow' as const, name, registered })),
  ]
}

const nouns = { ref: 'reference', chain: 'chain', workflow: 'workflow', observer: 'observer' } as const
const kindTitles = { chain: 'Chain', workflow: 'Workflow' } as const

interface Looking {
  readonly placeOf: PlaceOf
  /** Told already, by their own faults. */
  readonly faulty: ReadonlyMap<string, unknown>
}

function danglingFindings(registry: Registry, node: PlacedNode, { placeOf, faulty }: Looking): readonly Finding[] {
  const { name, registered } = node
  const known = { ref: registry.references, chain: registry.chains, observer: registry.observers, workflow: new Map() }
  return childrenOf(registry, node)
    .filter((child) => !known[child.kind].has(child.name) && !faulty.has(`${child.kind}/${child.name}`))
    .map((child) => {
      const title = kindTitles[node.kind === 'chain' ? 'chain' : 'workflow']
      const summary = `${title} ${name} contains non-existent ${nouns[child.kind]} ${child.name}`
      return errorAt('steps.dangling', summary, placeOf(registered.file, child.path))
    })
}

interface OwnedError {
  /** The chain or workflow that it is in: `chain/NAME`. */
  readonly own: string
  readonly error: StepError
}

/** What resolving each chain and each workflow says, told where it belongs and nowhere above. */
function valueFindings(registry: Registry, placeOf: PlaceOf): readonly Finding[] {
  const owned = (node: string, errors: readonly StepError[]): readonly OwnedError[] =>
    errors.map((error) => ({ own: error.above.at(-1) ?? node, error }))
  const all = [
    ...[...registry.chains.keys()].flatMap((name) => owned(`chain/${name}`, resolveChain(registry, name).errors)),
    ...[...registry.workflows.keys()].flatMap((name) =>
      owned(`workflow/${name}`, examineWorkflow(registry, name, { ofSteps: true }).errors),
    ),
  ]
  const isHole = ({ error: { kind } }: OwnedError) => kind === 'dangling' || kind === 'cycle'
  // With a step missing below, nobody knows what is unused.
  const holed = new Set(all.filter(isHole).flatMap(({ error: { above } }) => above))
  const told = new Set<string>()
  return all
    .toSorted((a, b) => a.error.above.length - b.error.above.length)
    .flatMap(({ own, error }) => {
      const id = `${own}\n${error.kind}\n${error.subject}`
      const isToldByGraph = error.kind === 'dangling' || isEnabled(registry, own, error)
      if (told.has(id) || isToldByGraph || (error.kind === 'unused' && holed.has(own))) return []
      told.add(id)
      const found = errorAt(
        `steps.${error.kind}`,
        stepErrorText(error),
        placeOfError(registry, { own, error }, placeOf),
      )
      return [accepted.has(error.kind) ? { ...found, severity: 'warning' as const } : found]
    })
}

/** Of what a workflow names, ci-operator looks these up with a test, which may name others. */
const accepted: ReadonlySet<StepError['kind']> = new Set(['observer', 'profile'])

/** An observer that the workflow names itself, and not by way of a step. */
function isEnabled({ workflows }: Registry, own: string, { kind, subject }: StepError): boolean {
  const enabled = workflows.get(own.replace(/^workflow\//, ''))?.steps.observers?.enable
  return kind === 'observer' && enabled?.includes(subject) === true
}

function placeOfError(registry: Registry, { own, error }: OwnedError, placeOf: PlaceOf): Finding['where'] {
  const { subject, kind } = error
  const name = own.slice(own.indexOf('/') + 1)
  const chain = own.startsWith('chain/') ? registry.chains.get(name) : undefined
  if (chain !== undefined) {
    const index = chain.env?.findIndex((entry) => entry.name === subject) ?? -1
    const isParameter = kind === 'unused' && index >= 0
    return placeOf(
      chain.file,
      isParameter ? ['chain', 'env', index] : stepPath(chain.steps, subject, ['chain', 'steps']),
    )
  }
  const workflow = registry.workflows.get(name)
  if (workflow === undefined) return undefined
  const field = kind === 'unused' ? ['env', subject] : kind === 'profile' ? ['cluster_profile'] : []
  const phase = phases.find((one) => workflow.steps[one]?.some(({ ref, literal }) => subject === (ref ?? literal?.as)))
  const path = phase === undefined ? field : stepPath(workflow.steps[phase] ?? [], subject, [phase])
  return placeOf(workflow.file, ['workflow', 'steps', ...(field.length > 0 ? field : path)])
}

function stepPath(steps: readonly TestStep[], subject: string, above: readonly string[]): FieldPath {
  const names = steps.map(({ ref, chain, literal }) => ref ?? chain ?? literal?.as)
  const index = names.lastIndexOf(subject)
  return index < 0 ? above : [...above, index]
}

function stepFindings(registry: Registry, placeOf: PlaceOf): readonly Finding[] {
  const { references, observers, hasScripts: hasScript } = registry
  const ofSteps = [...references.values()].flatMap(({ step, file }) =>
    checkStep(step, { field: step.as, hasScript }).map((summary) =>
      errorAt('steps.step', summary, placeOf(file, ['ref', 'as'])),
    ),
  )
  const ofObservers = [...observers.values()].flatMap(({ observer, file }) =>
    checkObserver(observer, { hasScript }).map((summary) =>
      errorAt('steps.step', summary, placeOf(file, ['observer', 'name'])),
    ),
  )
  return [...ofSteps, ...ofObservers, ...ignoredFindings(registry, placeOf)]
}

/** Of a step that is named and written out as well, ci-operator takes the name and says nothing about the rest. */
function ignoredFindings(registry: Registry, placeOf: PlaceOf): readonly Finding[] {
  return nodesOf(registry).flatMap(({ kind, name, registered }) =>
    listsOf(registry, { kind, name }).flatMap(({ path, steps }) =>
      steps.flatMap(({ ref, chain, literal }, index) => {
        if ([ref, chain, literal].filter((part) => part !== undefined).length < 2) return []
        const taken = chain === undefined ? `ref: ${ref}` : `chain: ${chain}`
        const summary = `${kind}/${name}: ${path.slice(1).join('.')}[${index}]: only \`${taken}\` counts; what stands beside it is ignored`
        const remedy =
          'take out what stands beside it, or write it where it counts: in env of the chain, the workflow or the test'
        const where = placeOf(registered.file, [...path, index])
        return [finding({ id: 'steps.ignored-fields', severity: 'warning', summary, remedy, where })]
      }),
    ),
  )
}

interface PlacedList {
  readonly path: readonly string[]
  readonly steps: readonly TestStep[]
}

function listsOf(registry: Registry, { kind, name }: RegistryNode): readonly PlacedList[] {
  if (kind === 'chain') return [{ path: ['chain', 'steps'], steps: registry.chains.get(name)?.steps ?? [] }]
  const steps = registry.workflows.get(name)?.steps
  return phases.map((phase) => ({ path: ['workflow', 'steps', phase], steps: steps?.[phase] ?? [] }))
}

function errorAt(id: string, summary: string, where: Finding['where']): Finding {
  return finding({ id, severity: 'error', summary, ...(where && { where }) })
}
