/**
 * Which parts of a configuration this version does not carry out, and which it reads without effect: each at its place,
 * with the reason and what to do instead, so that nothing that was asked for is left behind in silence.
 */
import { type Finding, finding } from '../errors/finding.ts'
import type { DeleteImageSetConfiguration } from './delete-image-set-configuration.ts'
import { formerFields, formerInV2, rangesBesideFull } from './former-fields.ts'
import type { ImageSetConfiguration } from './image-set-configuration.ts'
import type { LoadedFile } from './image-set-file.ts'
import { isLocalLayout } from './image-set-values.ts'
import { InvalidConfiguration, inFileOrder } from './invalid-config.ts'
import type { ValuePath } from './yaml-nodes.ts'
import { formatPath } from './yaml-place.ts'

/** The class of content that an unsupported part belongs to, as the failure policy names it. */
type ContentClass = 'release' | 'operator' | 'additional' | 'helm'

export interface UnsupportedPart extends Finding {
  readonly severity: 'error'
  readonly class: ContentClass
  /** The field that asks for it: `mirror.platform.graph`. */
  readonly field: string
}

/** A loaded file of either kind. */
type Loaded = Pick<LoadedFile<ImageSetConfiguration | DeleteImageSetConfiguration>, 'configuration' | 'file'>

type Content = ImageSetConfiguration['mirror'] | DeleteImageSetConfiguration['delete']

/** What is asked for and not carried out: to be refused, or left out where the failure policy of its class says `skip`. */
export function unsupportedParts({ configuration, file }: Loaded): UnsupportedPart[] {
  const { section, content } = contentOf(configuration)
  const found = [...unsupportedImages(content), ...(section === 'delete' ? undeletable(content) : [])].map(
    ([path, of, [what, remedy]]): UnsupportedPart => {
      const field = formatPath([section, ...path])
      const summary = `${field}: ${what} is not carried out by this version of sallyport`
      const where = file.placeOf([section, ...path], 'key')
      const parts = { id: `config.unsupported-${of}`, severity: 'error', summary, remedy, where } as const
      return { ...finding(parts), severity: 'error', class: of, field }
    },
  )
  return inFileOrder(found)
}

function contentOf(configuration: Loaded['configuration']): { section: 'mirror' | 'delete'; content: Content } {
  return 'mirror' in configuration
    ? { section: 'mirror', content: configuration.mirror }
    : { section: 'delete', content: configuration.delete }
}

type FailurePolicy = NonNullable<ImageSetConfiguration['failurePolicy']>

/**
 * Refuses what is not carried out, but for the classes of content that the policy leaves out (`skip`).
 *
 * @returns what is left out: its classes are not to be mirrored at all
 * @throws InvalidConfiguration
 */
export function refuseUnsupported(loaded: Loaded, policy: FailurePolicy = {}): UnsupportedPart[] {
  const parts = unsupportedParts(loaded)
  const refused = parts.filter((part) => policy[part.class] !== 'skip')
  if (refused.length === 0) return parts
  const skip = 'or have that class of content left out with failurePolicy: { CLASS: skip } at the top level'
  const hint = `Do what is said there${'mirror' in loaded.configuration ? `, ${skip}` : ''}.`
  throw new InvalidConfiguration(refused, { hint })
}

/** The configuration without these classes of content. */
export function withoutClasses(
  configuration: ImageSetConfiguration,
  classes: ReadonlySet<ContentClass>,
): ImageSetConfiguration {
  const { platform, operators, additionalImages, helm, ...rest } = configuration.mirror
  const mirror = {
    ...rest,
    ...(platform && !classes.has('release') && { platform }),
    operators: classes.has('operator') ? [] : operators,
    additionalImages: classes.has('additional') ? [] : additionalImages,
    ...(helm && !classes.has('helm') && { helm }),
  }
  return { ...configuration, mirror }
}

type Part = readonly [path: ValuePath, of: ContentClass, words: readonly [what: string, instead: string]]

/** A name at the target stands for all platforms of an image: who names some of them may mean to keep the others. */
function undeletable({ platform, operators, helm, additionalImages }: Content): Part[] {
  const parts: Part[] = []
  if (operators.length > 0) {
    const instead = 'take the section out, and name the images in delete.additionalImages'
    parts.push([['operators'], 'operator', ['deleting operators', instead]])
  }
  if (helm?.repositories?.length || helm?.local?.length) {
    const instead = 'take the section out, and name the images of the charts in delete.additionalImages'
    parts.push([['helm'], 'helm', ['deleting charts', instead]])
  }
  if (platform?.platforms?.length) {
    const instead =
      'take it out: a release is deleted with all its platforms; architectures: [multi] chooses that payload'
    parts.push([['platform', 'platforms'], 'release', ['deleting single platforms of a release', instead]])
  }
  for (const [index, { platforms }] of additionalImages.entries()) {
    if (!platforms?.length) continue
    const instead = 'take it out: an image is deleted with all its platforms'
    parts.push([['additionalImages', index, 'platforms'], 'additional', ['deleting single platforms', instead]])
  }
  return parts
}

function unsupportedImages({ additionalImages }: Content): Part[] {
  const parts: Part[] = []
  for (const [index, { name }] of additionalImages.entries()) {
    const path: ValuePath = ['additionalImages', index]
    if (isLocalLayout(name)) {
      const instead = 'push the image to a registry (skopeo copy), and name it there'
      parts.push([[...path, 'name'], 'additional', ['reading an image from an OCI layout', instead]])
    }
  }
  return parts
}

/** What loads and has no effect, with the reason; severity warning or info. */
export function ignoredParts({ configuration, file }: Loaded): Finding[] {
  const { section, content } = contentOf(configuration)
  const ignored: Ignored = (path, severity, summary) =>
    finding({
      id: 'config.ignored',
      severity,
      summary: `${formatPath(path)}: ${summary}`,
      where: file.placeOf(path, 'key'),
    })
  const parts = { configuration, section }
  const findings = formerFields(parts).map(({ path, field }) =>
    ignored(path, field === 'storageConfig' ? 'info' : 'warning', `v2alpha1 has no ${field}; ${formerInV2[field]}`),
  )
  for (const path of rangesBesideFull(parts))
    findings.push(
      ignored(path, 'warning', 'has no effect on packages with minVersion or maxVersion: their range counts'),
    )
  for (const [index, { skipDependencies }] of content.operators.entries()) {
    const path = [section, 'operators', index, 'skipDependencies']
    if (skipDependencies !== undefined)
      findings.push(
        ignored(path, 'info', 'means the same as dependencies: ignore; without it unmet dependencies are told'),
      )
  }
  if (content.samples.length > 0)
    findings.push(ignored([section, 'samples'], 'warning', 'is ignored, as by oc-mirror, which never carried it out'))
  if (asksForNothing(content)) findings.push(ignored([section], 'warning', 'asks for nothing at all'))
  return inFileOrder([...findings, ...ignoredRelease({ section, platform: content.platform }, ignored)])
}

type Ignored = (path: ValuePath, severity: 'warning' | 'info', summary: string) => Finding

function ignoredRelease(
  { section, platform }: { readonly section: string; readonly platform: Content['platform'] },
  ignored: Ignored,
): Finding[] {
  const path = [section, 'platform']
  const findings: Finding[] = []
  if (platform?.release !== undefined && platform.architectures?.length) {
    const summary = 'has no effect beside release: the release image decides about the architecture'
    findings.push(ignored([...path, 'architectures'], 'info', summary))
  }
  for (const [index, { full, minVersion, maxVersion }] of (platform?.channels ?? []).entries()) {
    if (full && minVersion !== undefined && maxVersion !== undefined)
      findings.push(
        ignored([...path, 'channels', index, 'full'], 'warning', 'has no effect beside minVersion and maxVersion'),
      )
  }
  return findings
}

function asksForNothing({ platform, operators, additionalImages, helm, files }: Content): boolean {
  const hasRelease = platform?.release !== undefined || (platform?.channels?.length ?? 0) > 0
  const hasCharts = (helm?.repositories?.length ?? 0) + (helm?.local?.length ?? 0) > 0
  const hasFiles = (files?.length ?? 0) > 0
  return !hasRelease && operators.length === 0 && additionalImages.length === 0 && !hasCharts && !hasFiles
}
