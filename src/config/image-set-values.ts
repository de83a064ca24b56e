/** The values that the fields of an image set take: names of images, places at the target, versions, platforms. */
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { isRepositoryPath, isTag, parseReference } from '../oci/reference.ts'
import { parseJsonPath } from '../openshift/json-path.ts'
import { placeholderHint } from './placeholder.ts'
import { operatorVersionPattern, releaseVersionPattern } from './versions.ts'

/** `docker://` may stand before an image name, as oc-mirror allows. */
export function withoutTransport(name: string): string {
  return name.replace(/^docker:\/\//, '')
}

/** True for an image in a directory of this machine: `oci:///path/to/layout`. */
export function isLocalLayout(name: string): boolean {
  return name.startsWith('oci:')
}

/** What editors check while one types, which cannot parse a reference: the form without its finer points. */
const shapes = {
  image: String.raw`^(?:oci:.+|(?:docker://)?[A-Za-z0-9.:/_-]*[a-z0-9](?::\w[\w.-]*)?(?:@sha\d+:[0-9a-f]+)?)$`,
  catalog: String.raw`^(?:oci:.+|(?:docker://)?[A-Za-z0-9.:/_-]*[a-z0-9](?::\w[\w.-]*|@sha\d+:[0-9a-f]+)+)$`,
  repositoryPath: '^[a-z0-9]+(?:[._/-]+[a-z0-9]+)*$',
  tag: String.raw`^\w[\w.-]{0,127}$`,
} as const

/** Fields of the schemas, each with what is said when its value does not fit. */
export const values = {
  image: z
    .string()
    .superRefine((name, context) => void checkImage(name, context))
    .meta({ pattern: shapes.image }),
  /** oc-mirror also wants a tag or a digest here: the name of the catalog's resources is made from it. */
  catalog: z
    .string()
    .superRefine((name, context) => {
      const reference = checkImage(name, context)
      if (reference === undefined || reference.tag !== undefined || reference.digest !== undefined) return
      const message = `"${name}" has neither tag nor digest; a catalog needs one, for example ${name}:v4.18`
      context.addIssue({ code: 'custom', message })
    })
    .meta({ pattern: shapes.catalog }),
  repositoryPath: z
    .string()
    .refine(isRepositoryPath, { error: ({ input }) => noRepositoryPath(String(input)) })
    .meta({ pattern: shapes.repositoryPath }),
  tag: z
    .string()
    .refine(isTag, {
      error: ({ input }) => `"${input}" is not a tag: up to 128 letters, digits, _ . and -, the first no . or -`,
    })
    .meta({ pattern: shapes.tag }),
  releaseVersion: z.string().regex(releaseVersionPattern, {
    error: ({ input }) =>
      `"${input}" is not a release version${placeholderHint(String(input)) || '; write all three numbers, for example 4.18.9'}`,
  }),
  operatorVersion: z.string().regex(operatorVersionPattern, {
    error: ({ input }) =>
      `"${input}" is not a semantic version${placeholderHint(String(input)) || ', for example 1.2.3'}`,
  }),
  jsonPath: z
    .string()
    .superRefine((text, context) => void checkJsonPath(text, context))
    .meta({ examples: ['{.spec.template.spec.custom[*].image}'] }),
  name: z.string().min(1, { error: 'a name must stand here, and it is empty' }),
}

function checkJsonPath(text: string, context: z.RefinementCtx): void {
  try {
    parseJsonPath(text)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
  }
}

function noRepositoryPath(path: string): string {
  const [repository = '', tag] = path.split(':')
  const remedy =
    isRepositoryPath(repository) && tag !== undefined && isTag(tag)
      ? 'the tag has a field of its own, targetTag'
      : 'write lower-case names with / between them, without host, tag or digest, for example my-team/my-image'
  return `"${path}" is not a repository path; ${remedy}`
}

function checkImage(name: string, context: z.RefinementCtx): ReturnType<typeof parseReference> | undefined {
  if (isLocalLayout(name)) {
    if (/^oci:\/*$/.test(name)) context.addIssue({ code: 'custom', message: `"${name}" names no directory` })
    return undefined
  }
  try {
    return parseReference(withoutTransport(name))
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    context.addIssue({ code: 'custom', message: `${error.message}${hintFor(name)}` })
    return undefined
  }
}

/** The commonest reasons for a name that is none. */
function hintFor(name: string): string {
  const placeholder = placeholderHint(name)
  if (placeholder !== '') return placeholder
  if (/^[a-z-]+:\/\//.test(name)) return '; images are read from registries (no prefix) and OCI layouts (oci://)'
  return /[A-Z]/.test(name.replace(/[@:][^/]*$/, '')) ? '; it has capital letters: is it a placeholder?' : ''
}

/** What `platform.architectures` takes; `multi` is the payload for all of them. */
export const ReleaseArchitecture = z.enum(['amd64', 'arm64', 'ppc64le', 's390x', 'multi'])

/** One platform of an image with several, as an index names it (Go's GOOS and GOARCH). */
export const PlatformFilter = z
  .strictObject({
    os: z
      .enum(['linux', 'windows', 'darwin', 'freebsd', 'wasip1'])
      .meta({ description: 'Operating system, for example linux.' }),
    architecture: z
      .enum(['amd64', 'arm64', 'ppc64le', 's390x', 'arm', 'loong64', 'mips64le', 'ppc64', 'riscv64', 'wasm'])
      .meta({ description: 'Architecture: amd64, arm64, ppc64le, s390x.' }),
  })
  .meta({ description: 'One platform of images that are made for several.' })
