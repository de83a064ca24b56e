/** Permission bits; those of directories wait for the end, so that one without `w` can be filled by who is not root. */
import { effectiveMode } from '../../ignition/merge.ts'
import type { RootedTree } from './rooted-tree.ts'

export class ModesAtLast {
  readonly #tree: RootedTree
  readonly #version: string
  readonly #later = new Map<string, number>()

  /** @param version of the config: before 3.6.0 setuid, setgid and sticky are not set */
  constructor(tree: RootedTree, version: string) {
    this.#tree = tree
    this.#version = version
  }

  /** @param mode undefined where what is there stays */
  async set(resolved: string, mode: number | null | undefined): Promise<void> {
    if (typeof mode === 'number') await this.#tree.setMode(resolved, effectiveMode(mode, this.#version))
  }

  setLater(resolved: string, mode: number | null | undefined): void {
    if (typeof mode === 'number') this.#later.set(resolved, effectiveMode(mode, this.#version))
  }

  async finish(): Promise<void> {
    const deepestFirst = [...this.#later].sort(([one], [other]) => other.length - one.length)
    for (const [resolved, mode] of deepestFirst) {
      // A unit that is masked may have taken it away.
      if ((await this.#tree.stat(resolved))?.isDirectory()) await this.#tree.setMode(resolved, mode)
    }
  }
}
