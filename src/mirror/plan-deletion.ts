/**
 * What goes and what stays in one repository: pure, from what lies there and what is to be deleted.
 *
 * A manifest goes only if nothing that stays leads to it: no other tag, no index that stays, nothing that somebody else
 * uses. Where it stays, only its tag goes.
 */
import type { Descriptor } from '../oci/descriptor.ts'
import { type Digest, isDigest } from '../oci/digest.ts'

export interface StoredManifest {
  readonly size: number
  readonly children: readonly Digest[]
  readonly blobs: readonly Descriptor[]
  /** What it is attached to. */
  readonly subject?: Digest
}

/** What lies in a repository, as far as tags and the digests that were asked for lead. */
export interface RepositoryState {
  readonly tags: ReadonlyMap<string, Digest>
  readonly manifests: ReadonlyMap<Digest, StoredManifest>
  /** By subject. */
  readonly referrers: ReadonlyMap<Digest, readonly Digest[]>
}

/** One image to delete, by its tag, or by digest where it has none. */
export interface Unwanted {
  readonly name: { readonly tag: string } | { readonly digest: Digest }
  /** What the tag must stand for; where it stands for another image by now, that one stays. */
  readonly expected?: Digest
}

export interface DeletionRules {
  /** Who uses a manifest, wherever it lies; undefined where nobody is known to. */
  readonly usedBy: (digest: Digest) => string | undefined
  /** Who uses a tag of this repository. */
  readonly tagUsedBy: (tag: string) => string | undefined
  /** Signatures and other artifacts go with their image. */
  readonly withAttachments: boolean
}

export type Fate<Item extends Unwanted> =
  | { readonly item: Item; readonly fate: 'deleted'; readonly digest: Digest }
  /** The tag goes, the manifest stays, because of `why`. */
  | { readonly item: Item; readonly fate: 'untagged'; readonly digest: Digest; readonly why: string }
  | { readonly item: Item; readonly fate: 'kept'; readonly digest: Digest; readonly why: string }
  | { readonly item: Item; readonly fate: 'absent' }

export interface RepositoryDeletion<Item extends Unwanted> {
  readonly fates: readonly Fate<Item>[]
  /** In an order that never leaves a broken image: an index before its children, an image before what is attached to it. */
  readonly manifests: readonly Digest[]
  /** What must be gone before each of them: the indexes that hold it, the image that it is attached to. */
  readonly after: ReadonlyMap<Digest, readonly Digest[]>
  /** Tags that go with these manifests, attachments included. */
  readonly tags: ReadonlyMap<string, Digest>
  /** Tags of signatures and other artifacts that go although no item names them. */
  readonly attachedTags: readonly string[]
  /** Everything in this repository that stays, as far as it is known. */
  readonly staying: ReadonlySet<Digest>
}

/** What `tag` is attached to by its name alone: cosign's tags, and the list of referrers of distribution-spec. */
export function subjectOfTag(tag: string, digest: Digest, manifest: StoredManifest | undefined): Digest | undefined {
  const match = /^(sha256|sha512)-([a-f0-9]{64,128})(\.(?:sig|att|sbom))?$/.exec(tag)
  const subject = match && `${match[1]}:${match[2]}`
  if (!match || !subject || !isDigest(subject)) return undefined
  if (match[3] !== undefined) return subject
  // oc-mirror gives such tags to images that were named by digest alone: only a list of others is a list of referrers.
  return subject !== digest && manifest !== undefined && manifest.blobs.length === 0 ? subject : undefined
}

export function planDeletion<Item extends Unwanted>(
  state: RepositoryState,
  items: readonly Item[],
  rules: DeletionRules,
): RepositoryDeletion<Item> {
  return new Planner(state, items, rules).plan()
}

interface Candidate<Item> {
  readonly item: Item
  readonly digest: Digest
  readonly tag: string | undefined
  readonly subject: Digest | undefined
}

class Planner<Item extends Unwanted> {
  readonly #state: RepositoryState
  readonly #items: readonly Item[]
  readonly #rules: DeletionRules
  readonly #fates = new Map<Item, Fate<Item>>()
  /** The tags that items name. */
  readonly #unwanted: ReadonlySet<string>
  /** Tags that go if their subject goes. */
  readonly #attached = new Map<string, Digest>()
  readonly #tagsOf: ReadonlyMap<Digest, readonly string[]>
  /** By what they are attached to. */
  readonly #attachments = new Map<Digest, string[]>()
  #candidates: Candidate<Item>[] = []
  #staying = new Set<Digest>()
  #going = new Set<Digest>()

  constructor(state: RepositoryState, items: readonly Item[], rules: DeletionRules) {
    this.#state = state
    this.#items = items
    this.#rules = rules
    this.#unwanted = new Set(items.flatMap(({ name }) => ('tag' in name ? [name.tag] : [])))
    const tags = Map.groupBy(state.tags, ([, digest]) => digest)
    this.#tagsOf = new Map([...tags].map(([digest, entries]) => [digest, entries.map(([tag]) => tag).sort()]))
  }

  plan(): RepositoryDeletion<Item> {
    this.#candidates = this.#items.flatMap((item) => this.#judge(item))
    this.#stayingRoots()
    // What is attached to an image that stays, stays: which may keep further images, until nothing changes.
    do this.#going = this.#reachGoing()
    while (this.#keepAttachments())
    const named = new Set(this.#candidates.map(({ tag }) => tag))
    for (const candidate of this.#candidates) this.#fates.set(candidate.item, this.#fateOf(candidate, named))
    const tags = new Map([...this.#state.tags].filter(([, digest]) => this.#going.has(digest)))
    const successors = this.#successors()
    return {
      fates: this.#items.flatMap((item) => this.#fates.get(item) ?? []),
      manifests: this.#inOrder(successors),
      after: inverse(successors),
      tags,
      attachedTags: [...this.#attached.keys()].filter((tag) => tags.has(tag) && !named.has(tag)).sort(),
      staying: this.#staying,
    }
  }

  /** The item as a candidate, unless it is clear already that it stays or is not there. */
  #judge(item: Item): Candidate<Item>[] {
    const tag = 'tag' in item.name ? item.name.tag : undefined
    const digest = 'tag' in item.name ? this.#state.tags.get(item.name.tag) : item.name.digest
    const manifest = digest && this.#state.manifests.get(digest)
    if (!digest || !manifest) {
      this.#fates.set(item, { item, fate: 'absent' })
      return []
    }
    const why = this.#whyKept(item, digest, tag)
    if (why !== undefined) {
      this.#fates.set(item, { item, fate: 'kept', digest, why })
      return []
    }
    const subject = tag === undefined ? manifest.subject : subjectOfTag(tag, digest, manifest)
    return [{ item, digest, tag, subject }]
  }

  #whyKept({ expected }: Item, digest: Digest, tag: string | undefined): string | undefined {
    if (expected !== undefined && expected !== digest) return `the tag stands for another image by now, ${digest}`
    const named = tag === undefined ? undefined : this.#rules.tagUsedBy(tag)
    if (named !== undefined) return named
    // What is used stays under its other name: only this one goes.
    if (this.#tagsOf.get(digest)?.some((other) => !this.#unwanted.has(other))) return undefined
    const used = this.#rules.usedBy(digest)
    if (used !== undefined) return used
    // A node names the image of its own platform, and pulls the index again.
    for (const child of this.#reach([digest])) {
      const user = this.#rules.usedBy(child)
      if (user !== undefined) return `${user} (it holds ${child})`
    }
    return undefined
  }

  #stayingRoots(): void {
    const unwanted = new Set(this.#candidates.map(({ tag }) => tag))
    const roots: Digest[] = []
    for (const [tag, digest] of this.#state.tags) {
      if (unwanted.has(tag)) continue
      const isUsed = this.#rules.tagUsedBy(tag) !== undefined
      const subject = isUsed ? undefined : subjectOfTag(tag, digest, this.#state.manifests.get(digest))
      if (this.#rules.withAttachments && subject !== undefined) {
        this.#attached.set(tag, subject)
        this.#attachments.set(subject, [...(this.#attachments.get(subject) ?? []), tag])
      } else roots.push(digest)
    }
    for (const digest of this.#state.manifests.keys()) if (this.#rules.usedBy(digest) !== undefined) roots.push(digest)
    for (const fate of this.#fates.values()) if (fate.fate === 'kept') roots.push(fate.digest)
    this.#staying = this.#reach(roots)
  }

  #reachGoing(): Set<Digest> {
    const going = new Set<Digest>()
    const pending = this.#candidates.map(({ digest }) => digest)
    for (let digest = pending.pop(); digest !== undefined; digest = pending.pop()) {
      if (going.has(digest) || this.#staying.has(digest) || !this.#state.manifests.has(digest)) continue
      going.add(digest)
      pending.push(...this.#below(digest))
    }
    return going
  }

  /** What goes because `digest` goes. */
  #below(digest: Digest): Digest[] {
    const children = [...(this.#state.manifests.get(digest)?.children ?? [])]
    if (!this.#rules.withAttachments) return children
    const tags = (this.#attachments.get(digest) ?? []).filter((tag) => this.#attached.has(tag))
    const tagged = tags.map((tag) => this.#state.tags.get(tag))
    const found = tagged.filter((one) => one !== undefined)
    return [...children, ...found, ...(this.#state.referrers.get(digest) ?? [])]
  }

  /** @returns true where something stays that was not known to */
  #keepAttachments(): boolean {
    const staying: Digest[] = []
    for (const [tag, subject] of this.#attached) {
      if (this.#going.has(subject)) continue
      this.#attached.delete(tag)
      staying.push(...[this.#state.tags.get(tag)].filter((digest) => digest !== undefined))
    }
    const orphaned = this.#candidates.filter(
      ({ subject }) => subject !== undefined && this.#state.manifests.has(subject) && !this.#going.has(subject),
    )
    for (const { item, digest, subject } of orphaned) {
      this.#fates.set(item, { item, fate: 'kept', digest, why: `it is attached to ${subject}, which stays` })
      staying.push(digest)
    }
    this.#candidates = this.#candidates.filter((candidate) => !orphaned.includes(candidate))
    for (const digest of this.#reach(staying)) this.#staying.add(digest)
    return staying.length > 0
  }

  #reach(roots: readonly Digest[]): Set<Digest> {
    const reached = new Set<Digest>()
    const pending = [...roots]
    for (let digest = pending.pop(); digest !== undefined; digest = pending.pop()) {
      if (reached.has(digest)) continue
      reached.add(digest)
      pending.push(...(this.#state.manifests.get(digest)?.children ?? []))
    }
    return reached
  }

  #fateOf({ item, digest, tag }: Candidate<Item>, named: ReadonlySet<string | undefined>): Fate<Item> {
    if (this.#going.has(digest)) return { item, fate: 'deleted', digest }
    const other = this.#tagsOf.get(digest)?.find((one) => !named.has(one))
    const why = other === undefined ? 'an image that stays holds it' : `the tag ${other} stands for it too`
    return tag === undefined ? { item, fate: 'kept', digest, why } : { item, fate: 'untagged', digest, why }
  }

  /** Whatever goes, by what must go later. */
  #successors(): Map<Digest, readonly Digest[]> {
    const listed = Map.groupBy(this.#candidates, ({ subject }) => subject)
    return new Map(
      [...this.#going].map((digest) => {
        const attached = (listed.get(digest) ?? []).map((candidate) => candidate.digest)
        const all = new Set([...this.#below(digest), ...attached].filter((one) => this.#going.has(one)))
        return [digest, [...all]]
      }),
    )
  }

  #inOrder(successors: ReadonlyMap<Digest, readonly Digest[]>): Digest[] {
    const seen = new Set<Digest>()
    const finished: Digest[] = []
    const visit = (digest: Digest) => {
      if (seen.has(digest)) return
      seen.add(digest)
      for (const one of successors.get(digest)?.toReversed() ?? []) visit(one)
      finished.push(digest)
    }
    for (const { digest } of this.#candidates.toReversed()) if (this.#going.has(digest)) visit(digest)
    return finished.reverse()
  }
}

function inverse(successors: ReadonlyMap<Digest, readonly Digest[]>): Map<Digest, Digest[]> {
  const predecessors = new Map<Digest, Digest[]>()
  for (const [digest, later] of successors)
    for (const one of later) predecessors.set(one, [...(predecessors.get(one) ?? []), digest])
  return predecessors
}
