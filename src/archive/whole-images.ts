import type { Digest } from '../oci/digest.ts'
import type { HistoryContent } from './history-content.ts'
import type { ArchiveImage } from './records.ts'

/** Images of a history of which everything is held: every manifest, every blob, every signature that came with them. */
export class WholeImages {
  readonly #held: ReadonlySet<Digest>
  readonly #needs = new Map<Digest, readonly Digest[]>()
  /** An image and what is attached to it, by source and destination. */
  readonly #groups = new Map<string, ArchiveImage[]>()
  readonly #isWhole = new Map<Digest, boolean>()

  /** @param contents the oldest first: what a later archive says of an image counts */
  constructor(contents: readonly HistoryContent[], held: ReadonlySet<Digest>) {
    this.#held = held
    for (const { images, needs } of contents) {
      for (const [digest, list] of needs) this.#needs.set(digest, list)
      let group: ArchiveImage[] = []
      for (const image of images) {
        if (image.attachedTo !== undefined) group.push(image)
        else {
          group = [image]
          this.#groups.set(keyOf(image.source, image.destination), group)
        }
      }
    }
  }

  find(source: string, destination: string): readonly ArchiveImage[] | undefined {
    const group = this.#groups.get(keyOf(source, destination))
    const isWhole = group?.every(({ digest }) => this.#needs.has(digest) && this.#holdsAll(digest))
    return isWhole ? group : undefined
  }

  /** A manifest with all that it names. What no plan names as a manifest is a blob. */
  #holdsAll(digest: Digest): boolean {
    const known = this.#isWhole.get(digest)
    if (known !== undefined) return known
    // Guards against a manifest that names itself, which no honest plan has.
    this.#isWhole.set(digest, false)
    const isWhole = this.#held.has(digest) && (this.#needs.get(digest) ?? []).every((one) => this.#holdsAll(one))
    this.#isWhole.set(digest, isWhole)
    return isWhole
  }
}

function keyOf(source: string, destination: string): string {
  return `${source} ${destination}`
}
