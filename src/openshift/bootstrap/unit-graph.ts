/** An order for names of which some come after others, and the circles that stand in the way of one. */

/** For every name: those that come before it. */
export type Before = ReadonlyMap<string, ReadonlySet<string>>

/**
 * How many steps have to be done before each: 0 where nothing comes before it. In a circle all have the same rank, after
 * what comes before any of them.
 */
export function ranksOf(before: Before): ReadonlyMap<string, number> {
  const components = componentsOf(before)
  const own = new Map(components.flatMap((component) => component.map((name) => [name, component] as const)))
  const ranks = new Map<string, number>()
  // Components come out with what they depend on first.
  for (const component of components) {
    const outer = component
      .flatMap((name) => [...(before.get(name) ?? [])])
      .filter((name) => own.get(name) !== component)
    const rank = outer.reduce((highest, name) => Math.max(highest, (ranks.get(name) ?? 0) + 1), 0)
    for (const name of component) ranks.set(name, rank)
  }
  return ranks
}

/** Each circle with its names in order; a name that comes before itself is one. */
export function circlesOf(before: Before): readonly (readonly string[])[] {
  const isCircle = (names: readonly string[]) =>
    names.length > 1 || names.some((name) => before.get(name)?.has(name) === true)
  return componentsOf(before)
    .filter(isCircle)
    .map((names) => names.toSorted())
}

interface Visit {
  readonly index: number
  low: number
  isOpen: boolean
}

/** Strongly connected components (Tarjan), dependencies first. */
function componentsOf(before: Before): readonly (readonly string[])[] {
  const visits = new Map<string, Visit>()
  const stack: string[] = []
  const components: string[][] = []
  const visit = (name: string): Visit => {
    const own: Visit = { index: visits.size, low: visits.size, isOpen: true }
    visits.set(name, own)
    stack.push(name)
    for (const next of before.get(name) ?? []) {
      const seen = visits.get(next)
      if (seen === undefined) own.low = Math.min(own.low, visit(next).low)
      else if (seen.isOpen) own.low = Math.min(own.low, seen.index)
    }
    if (own.low === own.index) components.push(closed(name))
    return own
  }
  const closed = (name: string): string[] => {
    const component = stack.splice(stack.lastIndexOf(name))
    for (const member of component) {
      const one = visits.get(member)
      if (one !== undefined) one.isOpen = false
    }
    return component
  }
  for (const name of before.keys()) if (!visits.has(name)) visit(name)
  return components
}
