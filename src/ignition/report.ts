/** What is wrong with a config, in the words of `ignition-validate` where it has words for it. */
export interface IgnitionReport {
  readonly entries: readonly IgnitionReportEntry[]
  /** True where Ignition would not start from this config: one entry is an error. */
  readonly isFatal: boolean
}

export interface IgnitionReportEntry {
  readonly severity: 'error' | 'warning' | 'info'
  /** `$.storage.files.0.path`; `$` is the config itself. */
  readonly path: string
  /** Counted from 1. Absent where no place can be named. */
  readonly line?: number
  /** In bytes, counted from 1. Of objects and lists it is the place behind the bracket, as `ignition-validate` counts. */
  readonly column?: number
  readonly message: string
}
