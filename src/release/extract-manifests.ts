/**
 * The manifests of a payload: documents in files.
 *
 * Source: openshift/library-go `pkg/manifest/manifest.go`.
 */
import { parse } from 'yaml'
import { KnownError } from '../errors/known-error.ts'
import { isRecord } from '../openshift/plain-record.ts'

/** The folder of a release image that holds them. */
export const manifestFolder = 'release-manifests'

export interface Manifest {
  /** Relative to the folder. */
  readonly file: string
  /** As it stands in the file, without the line that separates it from the next. */
  readonly text: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly annotations: Readonly<Record<string, string>> | undefined
  /** All of it: read when it is asked for, since a payload has megabytes of schemas that nobody asks for. */
  readonly object: () => Readonly<Record<string, unknown>>
}

export interface ParsedManifests {
  readonly manifests: readonly Manifest[]
  /** Files that are no manifests though they are called so, and why. */
  readonly unreadable: readonly { readonly file: string; readonly why: string }[]
}

/** @param files by path in the folder, in order */
export function parseManifests(files: ReadonlyMap<string, Uint8Array>): ParsedManifests {
  const manifests: Manifest[] = []
  const unreadable: { file: string; why: string }[] = []
  for (const [file, bytes] of files) {
    if (!/\.(?:yaml|yml|json)$/.test(file)) continue
    try {
      manifests.push(...parseFile(file, Buffer.from(bytes).toString('utf8')))
    } catch (error) {
      unreadable.push({ file, why: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) })
    }
  }
  return { manifests, unreadable }
}

/** Documents end where a line begins with three dashes, as `NewYAMLOrJSONDecoder` of Kubernetes has it. */
function parseFile(file: string, text: string): Manifest[] {
  return text
    .split(/^---.*$/m)
    .map((part) => part.replace(/^\r?\n/, ''))
    .flatMap((part) => {
      const head = documentOf(headOf(part))
      return head === null || head === undefined ? [] : manifestOf(file, part, head)
    })
}

/** Sections of an object that say what it is. */
const headSections = ['apiVersion', 'kind', 'metadata']

/** Those sections alone; the whole text where its form is not that of a block mapping. */
function headOf(text: string): string {
  const sections = text.split(/^(?=["']?[A-Za-z])/m)
  const isBlock = sections.slice(1).every((section) => /^["']?\w+["']?\s*:/.test(section))
  if (!isBlock || sections.length < 2) return text
  return sections.filter((section) => headSections.some((name) => section.startsWith(`${name}:`))).join('')
}

/** As Go reads it: YAML 1.1, and of two keys that are the same the last. */
function documentOf(text: string): unknown {
  return parse(text, { logLevel: 'error', prettyErrors: false, version: '1.1', uniqueKeys: false, maxAliasCount: 100 })
}

function manifestOf(file: string, text: string, head: unknown): Manifest {
  if (!isRecord(head)) throw new KnownError('PAYLOAD_INVALID', 'it holds a document that is no object')
  const metadata = isRecord(head['metadata']) ? head['metadata'] : {}
  const { kind, apiVersion } = head
  const { name } = metadata
  if (typeof kind !== 'string' || typeof name !== 'string')
    throw new KnownError('PAYLOAD_INVALID', 'it holds an object without kind or name')
  const annotations = isRecord(metadata['annotations']) ? textsOf(metadata['annotations']) : undefined
  const object = () => {
    const whole = documentOf(text)
    return isRecord(whole) ? whole : {}
  }
  return { file, text, apiVersion: String(apiVersion ?? ''), kind, name, annotations, object }
}

function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]))
}
