import type { PlanTotals } from './plan.ts'
import type { ContentClass } from './selection.ts'

/** What happens while a mirror runs. The progress lines, `--events` and the report all read this one stream. */
export type MirrorEvent =
  | { readonly type: 'mirror.resolving'; readonly done: number; readonly total: number }
  | { readonly type: 'mirror.planned'; readonly totals: PlanTotals }
  /** Bytes that newly arrived at the target. */
  | { readonly type: 'blob.progressed'; readonly bytes: number }
  | {
      readonly type: 'blob.arrived'
      readonly digest: string
      readonly size: number
      readonly repository: string
      readonly how: 'pushed' | 'mounted' | 'present'
    }
  | { readonly type: 'manifest.arrived'; readonly destination: string; readonly digest: string }
  | {
      readonly type: 'image.failed'
      readonly source: string
      readonly destination: string
      readonly class: ContentClass
      readonly code: string
      readonly message: string
      readonly hint: string
    }

export type OnMirrorEvent = (event: MirrorEvent) => void
