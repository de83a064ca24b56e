/**
 * `ImageSetConfiguration`: what to mirror, in oc-mirror's own format (v1alpha2 and v2alpha1).
 *
 * Source: openshift/oc-mirror `internal/pkg/api/v2alpha1/type_config.go`. Parts of the format that this version does not
 * carry out are refused by name, so that nothing is silently left behind.
 */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { isRepositoryPath, isTag, parseReference } from '../oci/reference.ts'
import { parseYaml, readTextFile, type YamlSource } from './yaml-document.ts'

const imageName = z.string().superRefine((name, context) => {
  try {
    parseReference(withoutTransport(name))
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
  }
})

const repositoryPath = z
  .string()
  .refine(isRepositoryPath, { error: 'not a repository path: no host, tag or digest; lower case' })
const tag = z.string().refine(isTag, { error: 'not a tag' })

const notYet = (what: string, instead: string) =>
  z.undefined({ error: `${what} is not carried out by this version of sallyport; ${instead}` }).optional()

const AdditionalImage = z.strictObject({
  name: imageName,
  targetRepo: repositoryPath.optional(),
  targetTag: tag.optional(),
  platforms: notYet('platforms', 'leave it out: every platform of the image is mirrored').optional(),
})

const Platform = z.strictObject({
  release: imageName.optional(),
  architectures: z.array(z.string()).optional(),
  channels: notYet('platform.channels', 'name the release image itself in platform.release'),
  graph: z
    .literal(false, { error: 'the update graph image is not carried out by this version of sallyport' })
    .optional(),
  platforms: notYet('platform.platforms', 'leave it out: every platform of the release is mirrored'),
  kubeVirtContainer: z
    .literal(false, { error: 'kubeVirtContainer is not carried out by this version of sallyport' })
    .optional(),
})

const BlockedImage = z.strictObject({
  name: z.string().superRefine((pattern, context) => {
    try {
      new RegExp(pattern)
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
    }
  }),
})

const MirrorStanza = z.strictObject({
  platform: Platform.optional(),
  additionalImages: z.array(AdditionalImage).default([]),
  blockedImages: z.array(BlockedImage).default([]),
  operators: notYet('mirror.operators', 'take the section out, or mirror operators with oc-mirror'),
  helm: notYet('mirror.helm', 'take the section out, and name the images of the charts in additionalImages'),
  samples: notYet('mirror.samples', 'take the section out (oc-mirror ignores it too)'),
})

const apiVersions = ['mirror.openshift.io/v2alpha1', 'mirror.openshift.io/v1alpha2'] as const

export const ImageSetConfiguration = z.strictObject({
  kind: z.literal('ImageSetConfiguration', { error: 'kind must be ImageSetConfiguration' }),
  apiVersion: z.enum(apiVersions, { error: `apiVersion must be one of ${apiVersions.join(', ')}` }),
  archiveSize: z.number().int().positive().optional(),
  storageConfig: z.unknown().optional(),
  mirror: MirrorStanza,
})
export type ImageSetConfiguration = z.infer<typeof ImageSetConfiguration>

/** @throws KnownError CONFIG_INVALID, also where the file cannot be read: a configuration that does not load ends with 78 */
export async function loadImageSetConfiguration(path: string): Promise<ImageSetConfiguration> {
  const text = await readTextFile(path).catch((error: unknown) => {
    if (!(error instanceof KnownError) || error.code !== 'FILE_UNREADABLE') throw error
    throw new KnownError('CONFIG_INVALID', error.message, { hint: error.hint, details: { ...error.details } })
  })
  return parseImageSetConfiguration({ file: path, text })
}

/** @throws KnownError CONFIG_INVALID with every finding at its line and column */
export function parseImageSetConfiguration(source: YamlSource): ImageSetConfiguration {
  return parseYaml(source, ImageSetConfiguration)
}

/** `docker://` may stand before an image name, as oc-mirror allows. */
export function withoutTransport(name: string): string {
  return name.replace(/^docker:\/\//, '')
}
