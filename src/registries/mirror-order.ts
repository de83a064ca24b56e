/**
 * One order for the mirrors of a source, out of the orders that several mirror sets ask for.
 *
 * Every set keeps its own order as far as the others let it; the source itself comes after all mirrors of a set that
 * does not name it. Contradictions are broken at the name that sorts first. The same sets give the same order.
 *
 * Source: openshift/runtime-utils `pkg/registries/{registries,topo_graph}.go`.
 */
export function mergedMirrors(source: string, sets: readonly (readonly string[])[]): readonly string[] {
  const before = new Map<string, Set<string>>()
  const after = new Map<string, Set<string>>()
  const addEdge = (from: string, to: string) => {
    for (const node of [from, to]) {
      if (!before.has(node)) before.set(node, new Set())
      if (!after.has(node)) after.set(node, new Set())
    }
    after.get(from)?.add(to)
    before.get(to)?.add(from)
  }
  for (const mirrors of sets) {
    const chain = mirrors.includes(source) ? mirrors : [...mirrors, source]
    for (const [index, to] of chain.slice(1).entries()) addEdge(chain[index] ?? '', to)
  }
  const sorted = topologicallySorted(before, after)
  return sorted.at(-1) === source ? sorted.slice(0, -1) : sorted
}

/** Takes `before` apart on the way. */
function topologicallySorted(
  before: ReadonlyMap<string, Set<string>>,
  after: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const nodes = [...before.keys()].sort()
  const free = nodes.filter((node) => before.get(node)?.size === 0)
  const sorted = new Set<string>()
  for (;;) {
    const node = free.shift() ?? nodes.find((candidate) => !sorted.has(candidate))
    if (node === undefined) return [...sorted]
    sorted.add(node)
    const released = [...(after.get(node) ?? [])].filter((next) => {
      before.get(next)?.delete(node)
      return before.get(next)?.size === 0 && !sorted.has(next)
    })
    free.push(...released.sort())
  }
}
