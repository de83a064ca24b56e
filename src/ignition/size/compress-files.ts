/**
 * The same config in fewer bytes: no white space, and every file compressed whose data URL becomes shorter by it.
 *
 * What the machine gets is the same: hashes are of the decompressed bytes. It also works where the config as a whole must
 * not be compressed, as behind `s3:` (coreos/ignition `docs/configuration-v3_2.md`, “Compression cannot be used with S3”).
 */
import type { IgnitionConfig, Resource } from '../config.ts'
import { decodeDataUrl, encodeDataUrl, isDataUrl } from '../data-url.ts'
import { type JsonPath, withValue } from '../json/json-edit.ts'
import { type JsonText, minified, parseJsonText, printJson } from '../json/json-text.ts'
import { openForPatching } from '../patch/apply-changes.ts'
import { gzipped } from '../patch/file-entry.ts'

export interface CompressedConfig {
  readonly text: string
  /** Files, and what is appended to files, that are compressed now and were not before. */
  readonly compressedFiles: number
}

/** @throws KnownError IGNITION_INVALID where the text is no config of specification 3.x, or a data URL of it is broken */
export function compressFiles(text: string, fileName: string): CompressedConfig {
  const { config } = openForPatching(text, fileName)
  const gains = gainsOf(config)
  const document = parseJsonText(text, fileName)
  const small = gains.reduce(
    (changed: JsonText, { at, source }) =>
      withValue(withValue(changed, [...at, 'compression'], { plain: 'gzip' }), [...at, 'source'], { plain: source }),
    { lead: '', root: minified(document.root), trail: '' },
  )
  return { text: printJson(small), compressedFiles: gains.length }
}

export function minifiedText(text: string, fileName: string): string {
  return printJson({ lead: '', root: minified(parseJsonText(text, fileName).root), trail: '' })
}

interface Gain {
  readonly at: JsonPath
  readonly source: string
}

function gainsOf(config: IgnitionConfig): readonly Gain[] {
  return (config.storage?.files ?? []).flatMap(({ path, contents, append }) => {
    const file: JsonPath = ['storage', 'files', { by: 'path', is: path }]
    // Parts that are appended have no name to find them by: the list is left alone where one of them is not the only one.
    const [only, ...others] = append ?? []
    const appended =
      only?.source && others.length === 0 ? [gainOf(only, [...file, 'append', { by: 'source', is: only.source }])] : []
    return [gainOf(contents, [...file, 'contents']), ...appended].flatMap((gain) => gain ?? [])
  })
}

function gainOf(resource: Resource | undefined, at: JsonPath): Gain | undefined {
  const { source, compression } = resource ?? {}
  if (!source || !isDataUrl(source) || compression === 'gzip') return undefined
  const { bytes, mediaType } = decodeDataUrl(source)
  const small = encodeDataUrl(gzipped(bytes), mediaType)
  const field = compression === undefined || compression === null ? '"compression":"gzip",' : 'gzip'
  return small.length + field.length < source.length ? { at, source: small } : undefined
}
