/** A plan as a file: written for people and Git, read back for `mirror --plan`, `plan show` and `plan diff`. */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { digestText } from '../oci/digest-text.ts'
import type { MirrorPlan } from './plan.ts'
import { findInconsistency } from './plan-check.ts'

/**
 * A plan as JSON, an image, a blob or a manifest a line: to be read, compared and kept in Git. Given in pieces, because the
 * plan of ten thousand images is many megabytes.
 */
export function* planLines(plan: MirrorPlan): Generator<string> {
  const { version, target, totals } = plan
  yield `{"version":${version},"target":${JSON.stringify(target)},\n"totals":${JSON.stringify(totals)}`
  for (const part of ['images', 'blobs', 'manifests'] as const) {
    yield `,\n"${part}":[`
    let separator = '\n'
    for (const entry of plan[part]) {
      yield `${separator}${JSON.stringify(entry)}`
      separator = ',\n'
    }
    yield '\n]'
  }
  yield '\n}\n'
}

const DigestText = digestText('is not a sha256 or sha512 digest')
const count = z.number().int().nonnegative()

const PlanFile = z.strictObject({
  version: z.literal(1, { error: 'is not a version that this sallyport reads' }),
  target: z.string(),
  totals: z.strictObject({
    images: count,
    present: count,
    blobs: count,
    bytes: count,
    logicalBytes: count,
    mounts: count,
    manifests: count,
  }),
  images: z.array(
    z.strictObject({
      source: z.string(),
      destination: z.string(),
      digest: DigestText,
      class: z.enum(['release', 'operator', 'additional', 'helm']),
      why: z.string(),
      isPresent: z.boolean(),
      isReleaseImage: z.literal(true).exactOptional(),
      isCatalog: z.literal(true).exactOptional(),
      alsoNamed: z.array(z.string()).exactOptional(),
      platforms: z.array(z.string().regex(/^[a-z0-9]+\/[a-z0-9]+$/, 'is no platform')).exactOptional(),
      attachedTo: DigestText.exactOptional(),
    }),
  ),
  blobs: z.array(
    z.strictObject({
      digest: DigestText,
      size: count,
      mediaType: z.string(),
      source: z.string(),
      repositories: z.tuple([z.string()], z.string()),
    }),
  ),
  manifests: z.array(
    z.strictObject({
      digest: DigestText,
      size: count,
      mediaType: z.string(),
      source: z.string(),
      destination: z.string(),
      level: count,
      needs: z.array(DigestText),
      isSparse: z.literal(true).exactOptional(),
    }),
  ),
})

/**
 * Reads a plan, and lets only one through that can be carried out as it stands: every name and digest is well-formed,
 * everything goes below its target, nothing comes before what it needs, and the totals are those of the rest.
 *
 * @param origin names the plan in messages
 * @throws KnownError PLAN_INVALID with the place
 */
export function parsePlan(text: string, origin: string): MirrorPlan {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (cause) {
    throw invalidPlan(origin, `it is no JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  const result = PlanFile.safeParse(document)
  if (!result.success) {
    const [issue] = result.error.issues
    throw invalidPlan(origin, `${z.core.toDotPath(issue?.path ?? []) || 'the document'}: ${issue?.message}`)
  }
  const inconsistency = findInconsistency(result.data)
  if (inconsistency !== undefined) throw invalidPlan(origin, inconsistency)
  return result.data
}

function invalidPlan(origin: string, why: string): KnownError {
  return new KnownError('PLAN_INVALID', `${origin}: not a plan: ${why}`, { details: { file: origin } })
}
