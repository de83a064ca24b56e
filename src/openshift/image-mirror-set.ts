/**
 * ImageDigestMirrorSet, ImageTagMirrorSet and ImageContentSourcePolicy: where a cluster looks for images.
 *
 * Source: openshift/api `config/v1/types_image_{digest,tag}_mirror_set.go`, `operator/v1alpha1/types_image_content_source_policy.go`.
 */
import { type Document, parseAllDocuments, stringify } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'

export type MirrorSetKind = 'ImageDigestMirrorSet' | 'ImageTagMirrorSet' | 'ImageContentSourcePolicy'

export interface MirrorEntry {
  /** Registry, namespace or repository that images are named by. */
  readonly source: string
  /** Where to look first, in order. */
  readonly mirrors: readonly string[]
  readonly mirrorSourcePolicy?: 'NeverContactSource' | 'AllowContactingSource' | undefined
}

export interface ImageMirrorSet {
  readonly kind: MirrorSetKind
  readonly name: string
  readonly entries: readonly MirrorEntry[]
}

/** The API server takes a list that is null, or is not there, for an empty one. */
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? [])

const Entry = z.object({
  source: z.string(),
  mirrors: list(z.string()),
  mirrorSourcePolicy: z.enum(['NeverContactSource', 'AllowContactingSource']).optional(),
})
const Metadata = z.object({ name: z.string() })
const MirrorSetDocument = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('ImageDigestMirrorSet'),
    metadata: Metadata,
    spec: z.object({ imageDigestMirrors: list(Entry) }),
  }),
  z.object({
    kind: z.literal('ImageTagMirrorSet'),
    metadata: Metadata,
    spec: z.object({ imageTagMirrors: list(Entry) }),
  }),
  z.object({
    kind: z.literal('ImageContentSourcePolicy'),
    metadata: Metadata,
    spec: z.object({ repositoryDigestMirrors: list(Entry) }),
  }),
])

/**
 * The mirror sets in a YAML file; documents of other kinds are passed over.
 *
 * @throws KnownError CONFIG_INVALID
 */
export function parseImageMirrorSets(text: string, file: string): ImageMirrorSet[] {
  const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'error' })
  if (!Array.isArray(documents)) return []
  return documents.flatMap((document): ImageMirrorSet[] => {
    if (document.errors.length > 0) throw invalid(file, document.errors.map(({ message }) => message).join('; '))
    const value = toPlain(document, file)
    if (!isMirrorSet(value)) return []
    const result = MirrorSetDocument.safeParse(value)
    if (!result.success)
      throw invalid(file, result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '))
    return [{ kind: result.data.kind, name: result.data.metadata.name, entries: entriesOf(result.data) }]
  })
}

function toPlain(document: Document, file: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // An alias of nothing, or one that would unfold without end.
    throw error instanceof ReferenceError ? invalid(file, error.message) : error
  }
}

function entriesOf(document: z.infer<typeof MirrorSetDocument>): readonly MirrorEntry[] {
  if (document.kind === 'ImageDigestMirrorSet') return document.spec.imageDigestMirrors
  if (document.kind === 'ImageTagMirrorSet') return document.spec.imageTagMirrors
  return document.spec.repositoryDigestMirrors
}

function isMirrorSet(value: unknown): boolean {
  const kinds: readonly unknown[] = MirrorSetDocument.options.map((option) => option.shape.kind.value)
  return typeof value === 'object' && value !== null && 'kind' in value && kinds.includes(value.kind)
}

function invalid(file: string, why: string): KnownError {
  return new KnownError('CONFIG_INVALID', `${file}: ${why}`, {
    details: { file },
    hint: 'Correct this file, or move it away: it is then written anew.',
  })
}

/** YAML for `oc apply -f`: sets by name, sources sorted, no time stamps. */
export function renderImageMirrorSets(sets: readonly ImageMirrorSet[]): string {
  return sets
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
    .map((set) => `---\n${stringify(documentOf(set), { lineWidth: 0 })}`)
    .join('')
}

function documentOf({ kind, name, entries }: ImageMirrorSet): object {
  const sorted = entries.toSorted((a, b) => (a.source < b.source ? -1 : Number(a.source > b.source)))
  const plain = sorted.map(({ source, mirrors, mirrorSourcePolicy }) => ({
    source,
    mirrors: [...mirrors],
    ...(mirrorSourcePolicy && { mirrorSourcePolicy }),
  }))
  const field = {
    ImageDigestMirrorSet: 'imageDigestMirrors',
    ImageTagMirrorSet: 'imageTagMirrors',
    ImageContentSourcePolicy: 'repositoryDigestMirrors',
  }[kind]
  const apiVersion = kind === 'ImageContentSourcePolicy' ? 'operator.openshift.io/v1alpha1' : 'config.openshift.io/v1'
  return { apiVersion, kind, metadata: { name }, spec: { [field]: plain } }
}

/**
 * The sets of `next` with what `previous` held and `next` does not: entries of other sources, and further mirrors of the
 * same source behind those of `next`.
 */
export function mergeImageMirrorSets(
  previous: readonly ImageMirrorSet[],
  next: readonly ImageMirrorSet[],
): ImageMirrorSet[] {
  const merged = new Map<string, { set: ImageMirrorSet; entries: Map<string, MirrorEntry> }>()
  for (const set of [...next, ...previous]) {
    const key = `${set.kind}/${set.name}`
    const into = merged.get(key) ?? { set, entries: new Map<string, MirrorEntry>() }
    merged.set(key, into)
    for (const entry of set.entries) {
      const known = into.entries.get(entry.source)
      const mirrors = [...new Set([...(known?.mirrors ?? []), ...entry.mirrors])]
      const mirrorSourcePolicy = known?.mirrorSourcePolicy ?? entry.mirrorSourcePolicy
      into.entries.set(entry.source, { source: entry.source, mirrors, mirrorSourcePolicy })
    }
  }
  return [...merged.values()].map(({ set, entries }) => ({ ...set, entries: [...entries.values()] }))
}
