/** From one who pushes to one who pulls, an item at a time: the first waits until the second asks for the next. */
export class Handover<Item> {
  #given: { readonly item: Item } | undefined
  /** Ends the wait of who pushes. */
  #accept: PromiseWithResolvers<void> | undefined
  /** Wakes who pulls. */
  #wake = Promise.withResolvers<void>()
  #isOver = false
  #stopped: { readonly reason: unknown } | undefined

  /** Resolves when the next item is asked for; throws the reason where there will be no next one. */
  async give(item: Item): Promise<void> {
    if (this.#stopped) throw this.#stopped.reason
    this.#given = { item }
    this.#accept = Promise.withResolvers<void>()
    this.#wake.resolve()
    await this.#accept.promise
  }

  /** Nothing more will be given. */
  end(): void {
    this.#isOver = true
    this.#wake.resolve()
  }

  /** The next item; undefined at the end. */
  async take(): Promise<Item | undefined> {
    this.#accept?.resolve()
    if (!this.#given && !this.#isOver) await this.#wake.promise
    this.#wake = Promise.withResolvers<void>()
    const item = this.#given?.item
    this.#given = undefined
    return item
  }

  /** No more is wanted: who pushes is told why. */
  stop(reason: unknown): void {
    this.#stopped = { reason }
    this.#accept?.reject(reason)
  }
}
