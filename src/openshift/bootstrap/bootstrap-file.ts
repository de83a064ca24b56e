/** The files of a bootstrap config with their bytes read as text, and where in them something stands. */
import { KnownError } from '../../errors/known-error.ts'
import type { File, IgnitionConfig } from '../../ignition/config.ts'
import { inlineFile } from '../../ignition/contents.ts'
import { secretKind } from '../../ignition/secret-files.ts'

export interface BootstrapFile {
  readonly path: string
  /** Permission bits; 0644 where the config says nothing, as Ignition has it. */
  readonly mode: number
  /** Of what the config itself holds, decompressed. */
  readonly sizeBytes: number
  /** As UTF-8; empty where the bytes are not in the config, or broken. May hold secrets: see `isSecretFile`. */
  readonly text: string
  /** Why `text` is not what will be on the disk: behind a URL, or a broken data URL. */
  readonly flaw?: string
  /** True where it is added to what the machine has, as the installer's motd. */
  readonly isAppended: boolean
}

export type BootstrapFiles = ReadonlyMap<string, BootstrapFile>

/** A line of a file of the config. */
export interface Evidence {
  /** Path on the machine; a unit has the path that Ignition gives it. */
  readonly file: string
  /** From 1. */
  readonly line: number
}

/** By path; of two with the same path the later counts. */
export function readBootstrapFiles(config: IgnitionConfig): BootstrapFiles {
  return new Map((config.storage?.files ?? []).map((file) => [file.path, readFile(file)]))
}

function readFile(file: File): BootstrapFile {
  const base = { path: file.path, mode: file.mode ?? 0o644, isAppended: (file.append ?? []).length > 0 }
  try {
    const bytes = inlineFile(file)
    if (bytes === undefined) return { ...base, sizeBytes: 0, text: '', flaw: 'its content is not in this config' }
    return { ...base, sizeBytes: bytes.byteLength, text: Buffer.from(bytes).toString('utf8') }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return { ...base, sizeBytes: 0, text: '', flaw: error.message }
  }
}

/** The first line that `pattern` matches, and what its first group says. */
export function findLine(
  file: BootstrapFile | undefined,
  pattern: RegExp,
): { value: string; at: Evidence } | undefined {
  if (file === undefined) return undefined
  const match = pattern.exec(file.text)
  if (match === null) return undefined
  return { value: match[1] ?? match[0], at: { file: file.path, line: lineAt(file.text, match.index) } }
}

/** @returns the number of the line, from 1, that the character at `offset` stands in */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}

/** Signs beyond those of secrets anywhere, in what the installer and its users write. */
const furtherPath = /\/system-connections\//
const furtherTexts = [
  /^kind: "?Secret"?\s*$|"kind":\s*"Secret"/m,
  /^(?:PASSWORD|.*_PASSWORD)=/m,
  /^[ \t]*"?(?:password|passwordHash|token)"?:\s*"?[^\s"]/m,
  // A proxy with its user.
  /:\/\/[^\s/@:"]+:[^\s/@"]+@/,
]

/** True where a file is not to be shown to anybody: private keys, credentials, kubeconfigs, Secrets. */
export function isSecretFile({ path, text }: Pick<BootstrapFile, 'path' | 'text'>): boolean {
  if (secretKind(path, text) !== undefined || furtherPath.test(path)) return true
  return furtherTexts.some((pattern) => pattern.test(text)) || isListWithSecret(text)
}

/** Elsewhere `kind: Secret` within a document only speaks of one, as the overrides of the ClusterVersion do. */
function isListWithSecret(text: string): boolean {
  return /^kind: "?List"?\s*$/m.test(text) && /^[ \t]+(?:- )?kind: "?Secret/m.test(text)
}
