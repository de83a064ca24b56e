/**
 * The manifests that a bootstrap config carries into the cluster: /opt/openshift/manifests and /opt/openshift/openshift.
 *
 * Found by a look at their lines, and parsed only where somebody asks what one says: a config has more than a hundred of
 * them, and few are of interest.
 */
import { parse, parseAllDocuments, YAMLError } from 'yaml'
import { isRecord } from '../plain-record.ts'
import { parseBlockYaml } from './block-yaml.ts'
import { type BootstrapFile, type BootstrapFiles, isSecretFile, lineAt } from './bootstrap-file.ts'

export interface Manifest {
  readonly path: string
  /** Where the document begins in its file, from 1. */
  readonly line: number
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  /** The document. A Secret is one: never print it. */
  readonly text: string
}

const manifestPath = /^\/opt\/openshift\/(?:manifests|openshift)\/[^/]+\.(?:ya?ml|json)$/

/** In the order of the files; the elements of a List one by one. What has no kind is left out. */
export function readManifests(files: BootstrapFiles): readonly Manifest[] {
  return [...files.values()].filter(({ path }) => manifestPath.test(path)).flatMap(manifestsOf)
}

/**
 * What the manifest says; undefined where it does not parse.
 *
 * The shape is not proven: callers look at what they need.
 */
export function manifestDocument({ text }: Manifest): Readonly<Record<string, unknown>> | undefined {
  try {
    const document: unknown = text.startsWith('{')
      ? JSON.parse(text)
      : (parseBlockYaml(text) ?? parse(text, { logLevel: 'error' }))
    return isRecord(document) ? document : undefined
  } catch (error) {
    if (error instanceof YAMLError || error instanceof SyntaxError || error instanceof ReferenceError) return undefined
    throw error
  }
}

/** The documents of one file, wherever it is. */
export function manifestsOf(file: Pick<BootstrapFile, 'path' | 'text'>): readonly Manifest[] {
  const { path, text } = file
  if (/^\s*\{/.test(text)) return parsedManifests(file)
  const starts = [0, ...[...text.matchAll(/^---(?:[ \t].*)?\r?\n/gm)].map(({ index, 0: mark }) => index + mark.length)]
  return starts.flatMap((start, index) => {
    const end = starts[index + 1] ?? text.length
    const document = text.slice(start, end).replace(/^---.*\n?$/m, '')
    const kind = field(document, /^"?kind"?:[ \t]*(.*)$/m)
    if (kind === undefined) return []
    const line = lineAt(text, start)
    if (kind === 'List') return parsedManifests({ ...file, text: document }, line)
    const metadata = /^"?metadata"?:[ \t]*\r?\n((?:[ \t]+.*\r?\n?|\r?\n)*)/m.exec(document)?.[1] ?? ''
    const indent = /^[ \t]+/.exec(metadata)?.[0] ?? '  '
    const name = field(metadata, new RegExp(`^${indent}name:[ \\t]*(.*)$`, 'm'))
    if (name === undefined) return parsedManifests({ ...file, text: document }, line)
    const namespace = field(metadata, new RegExp(`^${indent}namespace:[ \\t]*(.*)$`, 'm'))
    const apiVersion = field(document, /^"?apiVersion"?:[ \t]*(.*)$/m) ?? ''
    return [{ path, line, apiVersion, kind, name, ...(namespace !== undefined && { namespace }), text: document }]
  })
}

/** A plain scalar, without quotes and comment. */
function field(text: string, pattern: RegExp): string | undefined {
  const value = pattern.exec(text)?.[1]?.trim()
  if (value === undefined || value === '') return undefined
  return /^"(.*)"$/.exec(value)?.[1] ?? /^'(.*)'$/.exec(value)?.[1] ?? value.replace(/\s+#.*$/, '')
}

/** For JSON, Lists, and YAML that is written in an unusual way. */
function parsedManifests({ path, text }: Pick<BootstrapFile, 'path' | 'text'>, line = 1): readonly Manifest[] {
  const documents = text.trimStart().startsWith('{') ? [plainJson(text)] : plainYaml(text)
  return documents
    .flatMap((document) => itemsOf(document))
    .flatMap((item) => {
      const metadata = isRecord(item['metadata']) ? item['metadata'] : {}
      const { kind, apiVersion } = item
      const { name, namespace } = metadata
      if (typeof kind !== 'string') return []
      return [
        {
          path,
          line,
          apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
          kind,
          name: typeof name === 'string' ? name : '',
          ...(typeof namespace === 'string' && { namespace }),
          text: JSON.stringify(item),
        },
      ]
    })
}

function itemsOf(document: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!isRecord(document)) return []
  const { kind, items } = document
  return kind === 'List' && Array.isArray(items) ? items.flatMap(itemsOf) : [document]
}

function plainJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return plainYaml(text)[0]
    throw error
  }
}

function plainYaml(text: string): readonly unknown[] {
  try {
    const documents = parseAllDocuments(text, { logLevel: 'error' })
    return Array.isArray(documents) ? documents.map((one) => (one.errors.length > 0 ? undefined : one.toJS())) : []
  } catch (error) {
    // An alias of nothing, or one that would unfold without end.
    if (error instanceof ReferenceError) return []
    throw error
  }
}

/** True where the manifest is not to be shown to anybody. */
export function isSecretManifest({ kind, path, text }: Manifest): boolean {
  return kind === 'Secret' || isSecretFile({ path, text })
}
