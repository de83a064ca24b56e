import type { ExportableStep } from './exportable-workflow.ts'

/** One word for a shell script. */
export function stepFlags({ isBestEffort, isOptionalOnSuccess }: ExportableStep): string {
  const words = [...(isBestEffort ? ['best-effort'] : []), ...(isOptionalOnSuccess ? ['optional-on-success'] : [])]
  return words.length > 0 ? words.join(',') : 'must-succeed'
}
