/** What differs between two configs, in plain values: no secret is in it. */

export interface Difference {
  /** `file`, `unit`, `user`, `certificate authority`, `setting`, … */
  readonly kind: string
  /** The path, the name, or what else tells one from another. */
  readonly name: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly details: readonly Detail[]
}

export interface Detail {
  /** `mode`, `owner`, `contents`, `drop-in 10-a.conf`, … */
  readonly field: string
  /** Absent where there was none. */
  readonly before?: string
  readonly after?: string
  /** Lines of a unified diff, for text. */
  readonly lines?: readonly string[]
  /** True for what is not shown: it differs, and that is all. */
  readonly isSecret?: true
}

/** A field that differs; nothing where it does not. */
export function valueDetail(field: string, before: string | undefined, after: string | undefined): readonly Detail[] {
  if (before === after) return []
  return [{ field, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }]
}

/** A field that can hold a secret: compared as it is, told as `safe` makes it; where that is the same, only that it differs. */
export function safeDetail(
  field: string,
  [before, after]: readonly [string | undefined, string | undefined],
  safe: (text: string) => string,
): readonly Detail[] {
  if (before === after) return []
  const [old, own] = [before, after].map((text) => (text === undefined ? undefined : safe(text)))
  return old === own ? [{ field, isSecret: true }] : valueDetail(field, old, own)
}

/** What is only in one of two sets, in their order. */
export function setDetails(field: string, before: readonly string[], after: readonly string[]): readonly Detail[] {
  const [old, own] = [new Set(before), new Set(after)]
  return [
    ...[...old].filter((value) => !own.has(value)).map((value) => ({ field, before: value })),
    ...[...own].filter((value) => !old.has(value)).map((value) => ({ field, after: value })),
  ]
}

interface Keyed<Entry> {
  readonly kind: string
  readonly before: readonly Entry[] | undefined
  readonly after: readonly Entry[] | undefined
  readonly nameOf: (entry: Entry) => string
  /** Details of one that is in both, or in one of them alone. */
  readonly detailsOf: (before: Entry | undefined, after: Entry | undefined) => readonly Detail[]
}

/** Entries of two lists by their names, in the order of names. */
export function keyedDifferences<Entry>({ kind, nameOf, detailsOf, ...lists }: Keyed<Entry>): readonly Difference[] {
  const named = (list: readonly Entry[] = []) => new Map(list.map((entry) => [nameOf(entry), entry]))
  const [before, after] = [named(lists.before), named(lists.after)]
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name): readonly Difference[] => {
    const [old, own] = [before.get(name), after.get(name)]
    const details = detailsOf(old, own)
    if (old === undefined) return [{ kind, name, change: 'added', details }]
    if (own === undefined) return [{ kind, name, change: 'removed', details }]
    return details.length > 0 ? [{ kind, name, change: 'changed', details }] : []
  })
}
