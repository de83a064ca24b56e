/**
 * Runs `action` for every item, at most `limit` at a time, and gives the results in the order of the items.
 *
 * The first rejection stops new items from being started and is thrown once those under way have ended, so that nothing
 * goes on behind the caller's back. An action whose failure must not stop the others catches it itself.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  action: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length)
  const failures: unknown[] = []
  const pending = items.entries()
  const worker = async () => {
    for (const [index, item] of pending) {
      if (failures.length > 0) return
      try {
        results[index] = await action(item, index)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
  return results
}
