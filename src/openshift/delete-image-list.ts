/**
 * `DeleteImageList`: what the first phase of a deletion writes and the second carries out.
 *
 * Source: openshift/oc-mirror `internal/pkg/delete/delete_images.go`, `internal/pkg/api/v2alpha1/type_image.go`.
 */
import { parseDocument, stringify } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'

/** One image of the list; field by field as oc-mirror writes it. */
export interface DeleteItem {
  /** The image as its source is named. */
  readonly imageName: string
  /** `docker://HOST/PATH:TAG`, where it is to be deleted. */
  readonly imageReference: string
  /** `ocpRelease`, `ocpReleaseContent`, `generic`, `helmImage`, … */
  readonly type: string
}

const List = z.object({
  apiVersion: z.string().optional(),
  kind: z.literal('DeleteImageList', { error: 'it must be DeleteImageList' }),
  items: z
    .array(z.object({ imageName: z.string(), imageReference: z.string(), type: z.string().default('') }))
    .nullish()
    .transform((items) => items ?? []),
})

/** Sorted by what is deleted, each once, and without a time stamp: the same deletion gives the same bytes. */
export function renderDeleteImageList(items: readonly DeleteItem[]): string {
  const unique = new Map(items.map((item) => [item.imageReference, item]))
  const sorted = [...unique.values()].sort((a, b) => (a.imageReference < b.imageReference ? -1 : 1))
  const plain = sorted.map(({ imageName, imageReference, type }) => ({ imageName, imageReference, type }))
  const list = { apiVersion: 'mirror.openshift.io/v2alpha1', kind: 'DeleteImageList', items: plain }
  return stringify(list, { lineWidth: 0, indentSeq: false })
}

/**
 * Also lists of oc-mirror v2.
 *
 * @throws KnownError CONFIG_INVALID
 */
export function parseDeleteImageList(text: string, file: string): readonly DeleteItem[] {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' })
  const [broken] = document.errors
  if (broken) throw invalid(file, broken.message)
  let value: unknown
  try {
    value = document.toJS()
  } catch (error) {
    // An alias of nothing, or one that would unfold without end.
    throw error instanceof ReferenceError ? invalid(file, error.message) : error
  }
  const result = List.safeParse(value)
  if (result.success) return result.data.items
  throw invalid(file, result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '))
}

function invalid(file: string, why: string): KnownError {
  return new KnownError('CONFIG_INVALID', `${file} is no list of images to delete: ${why}`, {
    details: { file },
    hint: 'Name a delete-images.yaml that sallyport delete --generate, or oc-mirror, wrote.',
  })
}
