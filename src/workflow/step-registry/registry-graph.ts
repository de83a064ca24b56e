/** Who uses what (openshift/ci-tools: pkg/registry/graph.go). */
import type { Registry, RegistryKind, TestStep } from './registry.ts'

/** A thing of the registry, by kind and name. */
export interface RegistryNode {
  readonly kind: RegistryKind
  readonly name: string
}

export interface RegistryLink extends RegistryNode {
  /** Where in the file of who uses it. */
  readonly path: readonly (string | number)[]
}

/** What a chain or a workflow names itself, in the order of the file; also what is not there. */
export function childrenOf(registry: Registry, { kind, name }: RegistryNode): readonly RegistryLink[] {
  if (kind === 'chain') return linksOf(registry.chains.get(name)?.steps, ['chain', 'steps'])
  if (kind !== 'workflow') return []
  const steps = registry.workflows.get(name)?.steps
  const observers = steps?.observers?.enable ?? []
  return [
    ...observers.map((observer, index) => ({
      kind: 'observer' as const,
      name: observer,
      path: ['workflow', 'steps', 'observers', 'enable', index],
    })),
    ...(['pre', 'test', 'post'] as const).flatMap((phase) => linksOf(steps?.[phase], ['workflow', 'steps', phase])),
  ]
}

function linksOf(steps: readonly TestStep[] = [], above: readonly string[]): readonly RegistryLink[] {
  return steps.flatMap(({ ref, chain }, index) => [
    ...(ref === undefined ? [] : [{ kind: 'ref' as const, name: ref, path: [...above, index, 'ref'] }]),
    ...(chain === undefined ? [] : [{ kind: 'chain' as const, name: chain, path: [...above, index, 'chain'] }]),
  ])
}

/** Everything that uses `node`, directly or through others: workflows and chains, each once, by kind and name. */
export function ancestorsOf(registry: Registry, node: RegistryNode): readonly RegistryNode[] {
  const parents = parentIndex(registry)
  const found = new Map<string, RegistryNode>()
  const visit = ({ kind, name }: RegistryNode) => {
    for (const parent of parents.get(`${kind}/${name}`) ?? []) {
      const id = `${parent.kind}/${parent.name}`
      if (found.has(id)) continue
      found.set(id, parent)
      visit(parent)
    }
  }
  visit(node)
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, parent]) => parent)
}

function parentIndex(registry: Registry): ReadonlyMap<string, readonly RegistryNode[]> {
  const parents = new Map<string, RegistryNode[]>()
  const users: readonly RegistryNode[] = [
    ...[...registry.chains.keys()].map((name) => ({ kind: 'chain' as const, name })),
    ...[...registry.workflows.keys()].map((name) => ({ kind: 'workflow' as const, name })),
  ]
  for (const user of users) {
    for (const { kind, name } of childrenOf(registry, user)) {
      const id = `${kind}/${name}`
      const known = parents.get(id)
      if (known) known.push(user)
      else parents.set(id, [user])
    }
  }
  return parents
}
