import { createSecretFilter, type SecretFilter } from './redaction/secret-filter.ts'
import { SecretSet } from './redaction/secret-set.ts'

/** The values that must not be seen in what a run writes. */
export class RunSecrets {
  readonly #set = new SecretSet([])

  /** Streams that are open already hear of it too. */
  add(value: string): void {
    this.#set.add(value)
  }

  openFilter(): SecretFilter {
    return createSecretFilter(this.#set)
  }

  /** `text` as it may be written. */
  clean(text: string): string {
    const filter = this.openFilter()
    return Buffer.concat([filter.push(Buffer.from(text)), filter.end()]).toString('utf8')
  }
}
