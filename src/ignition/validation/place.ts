import type { ConfigPath } from '../positions.ts'

/** Where a rule stands in the config, and where it puts what it finds. */
export interface Place {
  /** Of the specification: 2 for 3.2.0. */
  readonly minor: number
  /** @param below the path from here; nothing happens without a message */
  error(message: string | undefined, ...below: ConfigPath): void
  warning(message: string | undefined, ...below: ConfigPath): void
}

export interface PlacedMessage {
  readonly severity: 'error' | 'warning'
  readonly path: ConfigPath
  readonly message: string
  /** True where the place meant is the key at the end of the path, not its value. */
  readonly isKey?: boolean
}
