import { redact } from './redact.ts'

export type Severity = 'error' | 'warning' | 'info'

/** Something that a user can mend: found by validation, verification or diagnosis, and never thrown. */
export interface Finding {
  /** Stable identifier, dotted, to search for and to accept by name: `config.unknown-field`, `mirror.blob-missing`. */
  readonly id: string
  readonly severity: Severity
  /** One sentence with the values in it. */
  readonly summary: string
  /** What was seen: a file and line, a request and its answer. */
  readonly evidence?: string
  /** The next step. */
  readonly remedy?: string
  readonly where?: { readonly file: string; readonly line?: number; readonly column?: number }
}

/** The finding with every text in it redacted. */
export function finding(parts: Finding): Finding {
  return {
    ...parts,
    summary: redact(parts.summary),
    ...(parts.evidence !== undefined && { evidence: redact(parts.evidence) }),
    ...(parts.remedy !== undefined && { remedy: redact(parts.remedy) }),
  }
}
