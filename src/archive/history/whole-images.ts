import type { Digest } from '../../oci/digest.ts'
import type { ArchiveImage } from '../format/records.ts'
import { type HistorySum, imageKey } from './history-content.ts'

/** Images of a history of which everything is held: every manifest, every blob, every signature that came with them. */
export class WholeImages {
  readonly #history: Pick<HistorySum, 'images' | 'needs'>
  readonly #held: ReadonlySet<Digest>
  readonly #isWhole = new Map<Digest, boolean>()

  constructor(history: Pick<HistorySum, 'images' | 'needs'>, held: ReadonlySet<Digest>) {
    this.#history = history
    this.#held = held
  }

  find(source: string, destination: string): readonly ArchiveImage[] | undefined {
    const { images, needs } = this.#history
    const group = images.get(imageKey({ source, destination }))
    const isWhole = group?.every(({ digest }) => needs.has(digest) && this.#holdsAll(digest))
    return isWhole ? group : undefined
  }

  /** A manifest with all that it names. What no plan names as a manifest is a blob. */
  #holdsAll(digest: Digest): boolean {
    const known = this.#isWhole.get(digest)
    if (known !== undefined) return known
    // Guards against a manifest that names itself, which no honest plan has.
    this.#isWhole.set(digest, false)
    const needs = this.#history.needs.get(digest) ?? []
    const isWhole = this.#held.has(digest) && needs.every((one) => this.#holdsAll(one))
    this.#isWhole.set(digest, isWhole)
    return isWhole
  }
}
