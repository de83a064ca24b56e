import { createLogFilter } from './redaction/log-filter.ts'
import { createSecretFilter, type SecretFilter } from './redaction/secret-filter.ts'
import { SecretSet } from './redaction/secret-set.ts'

/** The values that must not be seen in what a run writes. */
export class RunSecrets {
  readonly #set = new SecretSet([])

  /**
   * Streams that are open already hear of it too.
   *
   * @returns false for one that is too short to be looked for
   */
  add(value: string): boolean {
    return this.#set.add(value)
  }

  /** For a log: also what looks like a secret that nobody registered is taken out. */
  openFilter(): SecretFilter {
    return createLogFilter(this.#set)
  }

  /** `text` as it may be written. */
  clean(text: string): string {
    const filter = createSecretFilter(this.#set)
    return Buffer.concat([filter.push(Buffer.from(text)), filter.end()]).toString('utf8')
  }
}
