/**
 * ConfigMaps with signatures of releases, where the version operator of a cluster looks for them before it asks a store.
 *
 * It reads every ConfigMap with the label in the namespace, whatever its name, and of it every `binaryData` key that begins with
 * `<algorithm>-<hex>` (openshift/library-go `pkg/verify/store/configmap/configmap.go`). Name and file are those of oc-mirror v2.
 */
import { type Document, parseAllDocuments, stringify } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { algorithmOf, type Digest, hexOf, isDigest } from '../oci/digest.ts'

/** By digest of the release image; the order is that of the numbers in the keys. */
export type ReleaseSignatures = ReadonlyMap<Digest, readonly Uint8Array[]>

const label = 'release.openshift.io/verification-signatures'
const namespace = 'openshift-config-managed'
const configMapName = 'mirrored-release-signatures'

/**
 * The largest ConfigMap that is written, in bytes of JSON. The API server takes 1 MiB, but `oc apply` keeps a copy of the whole object
 * in an annotation, and annotations end at 256 KiB (kubernetes/apimachinery `pkg/api/validation/objectmeta.go`).
 */
const maxObjectBytes = 240 * 1024

/** As the API server takes it, which passes over line breaks. */
const Base64 = z
  .string()
  .transform((text) => text.replaceAll(/\s+/g, ''))
  .pipe(z.base64())
const ConfigMap = z.object({
  kind: z.literal('ConfigMap'),
  metadata: z.object({ labels: z.record(z.string(), z.string()).nullish() }),
  binaryData: z.record(z.string(), z.union([Base64, z.instanceof(Uint8Array)])).nullish(),
})
const List = z.object({ kind: z.literal('List'), items: z.array(z.unknown()) })

/**
 * The signatures in a file of such ConfigMaps: YAML or JSON, one or several, also in a List, also as oc-mirror wrote it.
 *
 * @throws KnownError CONFIG_INVALID where something in it is none, so that nothing is lost when the file is written anew
 */
export function parseSignatureConfigMaps(text: string, file: string): ReleaseSignatures {
  const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'error' })
  if (!Array.isArray(documents)) return new Map()
  const objects = documents.flatMap((document): unknown[] => {
    if (document.errors.length > 0) throw invalid(file, document.errors.map(({ message }) => message).join('; '))
    const value = toPlain(document, file)
    if (value === null) return []
    const list = List.safeParse(value)
    return list.success ? list.data.items : [value]
  })
  return mergeReleaseSignatures(...objects.map((value) => signaturesIn(value, file)))
}

function toPlain(document: Document, file: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // An alias of nothing, or one that would unfold without end.
    throw error instanceof ReferenceError ? invalid(file, error.message) : error
  }
}

function signaturesIn(value: unknown, file: string): ReleaseSignatures {
  const result = ConfigMap.safeParse(value)
  if (!result.success) {
    throw invalid(file, result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  }
  const { metadata, binaryData } = result.data
  if (metadata.labels?.[label] === undefined) throw invalid(file, `a ConfigMap without the label ${label}`)
  const entries = Object.entries(binaryData ?? {}).map(([key, data]) => ({ ...parseKey(key, file), data }))
  const signatures = new Map<Digest, Uint8Array[]>()
  for (const { digest, data } of entries.toSorted((one, other) => one.number - other.number)) {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : data
    signatures.set(digest, [...(signatures.get(digest) ?? []), bytes])
  }
  return mergeReleaseSignatures(signatures)
}

/** What stands behind the digest is anything to the version operator; everybody writes a number there. */
function parseKey(key: string, file: string): { digest: Digest; number: number } {
  const [, algorithm = '', hex = '', rest = ''] = /^([a-z0-9]+)-([0-9a-f]+)(?:-(.*))?$/.exec(key) ?? []
  const digest = `${algorithm}:${hex}`
  if (!isDigest(digest)) throw invalid(file, `binaryData.${key}: not the name of a signature, as sha256-HEX-1`)
  const number = Number(rest)
  return { digest, number: Number.isInteger(number) ? number : 0 }
}

function invalid(file: string, why: string): KnownError {
  return new KnownError('CONFIG_INVALID', `${file}: ${why}`, {
    details: { file },
    hint: 'Correct this file, or move it away: it is then written anew, with the signatures of this run only.',
  })
}

/** Everything that any of them holds; the same bytes stand once, those of the first in front. */
export function mergeReleaseSignatures(...all: readonly ReleaseSignatures[]): ReleaseSignatures {
  const merged = new Map<Digest, Uint8Array[]>()
  for (const [digest, signatures] of all.flatMap((each) => [...each])) {
    const into = merged.get(digest) ?? []
    merged.set(digest, into)
    for (const bytes of signatures) {
      if (!into.some((known) => Buffer.from(known).equals(bytes))) into.push(bytes)
    }
  }
  return merged
}

interface ConfigMapObject {
  readonly apiVersion: 'v1'
  readonly kind: 'ConfigMap'
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Record<string, string> }
  readonly binaryData: Record<string, string>
}

/**
 * The same signatures give the same bytes: keys sorted, no time stamps. Further ConfigMaps, `mirrored-release-signatures-2` and so on, are begun where
 * one is full. Empty where there are no signatures.
 */
export function renderSignatureConfigMaps(signatures: ReleaseSignatures): {
  readonly yaml: string
  readonly json: string
} {
  const objects = objectsOf(signatures)
  const [only, ...others] = objects
  if (only === undefined) return { yaml: '', json: '' }
  const document = others.length === 0 ? only : { apiVersion: 'v1', kind: 'List', items: objects }
  return {
    yaml: objects.map((object) => `---\n${stringify(object, { lineWidth: 0 })}`).join(''),
    json: `${JSON.stringify(document, null, 2)}\n`,
  }
}

function objectsOf(signatures: ReleaseSignatures): ConfigMapObject[] {
  const objects: ConfigMapObject[] = []
  let room = 0
  for (const [key, data] of keyed(signatures)) {
    const size = key.length + data.length + '"":"",'.length
    let into = objects.at(-1)
    if (into === undefined || size > room) {
      into = emptyObject(objects.length + 1)
      objects.push(into)
      room = maxObjectBytes - JSON.stringify(into).length
    }
    into.binaryData[key] = data
    room -= size
  }
  return objects
}

function keyed(signatures: ReleaseSignatures): [string, string][] {
  const digests = [...signatures.keys()].toSorted()
  return digests.flatMap((digest) =>
    (signatures.get(digest) ?? []).map((bytes, index): [string, string] => [
      `${algorithmOf(digest)}-${hexOf(digest)}-${index + 1}`,
      Buffer.from(bytes).toString('base64'),
    ]),
  )
}

function emptyObject(number: number): ConfigMapObject {
  const name = number === 1 ? configMapName : `${configMapName}-${number}`
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { [label]: '' } },
    binaryData: {},
  }
}
