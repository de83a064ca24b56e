/**
 * Which parts of a configuration this version does not carry out, and which it reads without effect: each at its place,
 * with the reason and what to do instead, so that nothing that was asked for is left behind in silence.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { formerFields, formerInV2, rangesBesideFull } from './former-fields.ts'
import type { ImageSetConfiguration } from './image-set-configuration.ts'
import type { LoadedFile } from './image-set-file.ts'
import { isLocalLayout } from './image-set-values.ts'
import { inFileOrder, invalidConfig } from './invalid-config.ts'
import { formatPath, type ValuePath } from './yaml-place.ts'

/** The class of content that an unsupported part belongs to, as the failure policy names it. */
type ContentClass = 'release' | 'operator' | 'additional' | 'helm'

export interface UnsupportedPart extends Finding {
  readonly severity: 'error'
  readonly class: ContentClass
}

type Loaded = Pick<LoadedFile<ImageSetConfiguration>, 'configuration' | 'file'>

/** What is asked for and not carried out: to be refused, or left out where the failure policy of its class says `skip`. */
export function unsupportedParts({ configuration: { mirror }, file }: Loaded): UnsupportedPart[] {
  const notYet = (path: ValuePath, of: ContentClass, [what, instead]: readonly [string, string]): UnsupportedPart => ({
    ...finding({
      id: `config.unsupported-${of}`,
      severity: 'error',
      summary: `${formatPath(path)}: ${what} is not carried out by this version of sallyport`,
      remedy: instead,
      where: file.placeOf(path, 'key'),
    }),
    severity: 'error',
    class: of,
  })
  const found = [...unsupportedRelease(mirror.platform), ...unsupportedImages(mirror)].map(([path, of, words]) =>
    notYet(['mirror', ...path], of, words),
  )
  return inFileOrder(found)
}

type FailurePolicy = NonNullable<ImageSetConfiguration['failurePolicy']>

export interface SupportedConfiguration {
  /** The configuration without the classes of content that were left out. */
  readonly configuration: ImageSetConfiguration
  readonly leftOut: readonly UnsupportedPart[]
}

/**
 * What of the configuration is carried out. A class with an unsupported part is left out as a whole where its failure
 * policy is `skip`; otherwise the configuration is refused. The policy is the configuration's own, unless one is given.
 *
 * @throws KnownError CONFIG_INVALID
 */
export function supportedConfiguration(
  loaded: Loaded,
  policy: FailurePolicy = loaded.configuration.failurePolicy ?? {},
): SupportedConfiguration {
  const { configuration } = loaded
  const leftOut = unsupportedParts(loaded)
  const refused = leftOut.filter((part) => policy[part.class] !== 'skip')
  if (refused.length > 0) {
    throw invalidConfig(refused, {
      hint: 'Do what is said there, or have that class of content left out: failurePolicy: { CLASS: skip } at the top level.',
    })
  }
  const classes = new Set(leftOut.map((part) => part.class))
  const { platform, operators, additionalImages, helm, ...rest } = configuration.mirror
  const mirror = {
    ...rest,
    ...(platform && !classes.has('release') && { platform }),
    operators: classes.has('operator') ? [] : operators,
    additionalImages: classes.has('additional') ? [] : additionalImages,
    ...(helm && !classes.has('helm') && { helm }),
  }
  return { configuration: { ...configuration, mirror }, leftOut }
}

type Part = readonly [path: ValuePath, of: ContentClass, words: readonly [what: string, instead: string]]

function unsupportedRelease(platform: ImageSetConfiguration['mirror']['platform']): Part[] {
  const at = (field: string, what: string, instead: string): Part => [['platform', field], 'release', [what, instead]]
  const parts: Part[] = []
  if (platform?.channels?.length)
    parts.push(
      at('channels', 'choosing releases by channel', 'name the release image itself in mirror.platform.release'),
    )
  if (platform?.graph) parts.push(at('graph', 'the image with the update graph', 'take it out, or write graph: false'))
  if (platform?.platforms?.length)
    parts.push(at('platforms', 'choosing platforms of a release', 'take it out: every platform is mirrored'))
  if (platform?.kubeVirtContainer)
    parts.push(
      at(
        'kubeVirtContainer',
        'the KubeVirt disk image',
        'take it out, and name that image in mirror.additionalImages where it is needed',
      ),
    )
  return parts
}

function unsupportedImages({ operators, helm, additionalImages }: ImageSetConfiguration['mirror']): Part[] {
  const parts: Part[] = []
  if (operators.length > 0) {
    const instead = 'take the section out, or mirror operators with oc-mirror'
    parts.push([['operators'], 'operator', ['mirroring operators', instead]])
  }
  if (helm?.repositories?.length || helm?.local?.length) {
    const instead = 'take the section out, and name the images of the charts in mirror.additionalImages'
    parts.push([['helm'], 'helm', ['finding the images of Helm charts', instead]])
  }
  for (const [index, { name, platforms }] of additionalImages.entries()) {
    const path: ValuePath = ['additionalImages', index]
    if (platforms?.length) {
      const instead = 'take it out: every platform is mirrored'
      parts.push([[...path, 'platforms'], 'additional', ['choosing platforms of an image', instead]])
    }
    if (isLocalLayout(name)) {
      const instead = 'push the image to a registry (skopeo copy), and name it there'
      parts.push([[...path, 'name'], 'additional', ['reading an image from an OCI layout', instead]])
    }
  }
  return parts
}

/** What loads and has no effect, with the reason; severity warning or info. */
export function ignoredParts({ configuration, file }: Loaded): Finding[] {
  const { apiVersion, mirror, storageConfig } = configuration
  const { operators, platform } = mirror
  const ignored = (path: ValuePath, severity: 'warning' | 'info', summary: string) =>
    finding({
      id: 'config.ignored',
      severity,
      summary: `${formatPath(path)}: ${summary}`,
      where: file.placeOf(path, 'key'),
    })
  const parts = { apiVersion, storageConfig, operators, section: 'mirror' } as const
  const findings = formerFields(parts).map(({ path, field }) =>
    ignored(path, field === 'storageConfig' ? 'info' : 'warning', `${field} is read and ignored; ${formerInV2[field]}`),
  )
  for (const path of rangesBesideFull(parts))
    findings.push(
      ignored(path, 'warning', 'has no effect on packages with minVersion or maxVersion: their range counts'),
    )
  for (const [index, { skipDependencies }] of operators.entries())
    if (skipDependencies !== undefined)
      findings.push(
        ignored(
          ['mirror', 'operators', index, 'skipDependencies'],
          'info',
          'has no effect: dependencies are not resolved',
        ),
      )
  if (mirror.samples.length > 0)
    findings.push(ignored(['mirror', 'samples'], 'warning', 'is ignored, as by oc-mirror, which never carried it out'))
  return inFileOrder([...findings, ...ignoredRelease(platform, ignored)])
}

type Ignored = (path: ValuePath, severity: 'warning' | 'info', summary: string) => Finding

function ignoredRelease(platform: ImageSetConfiguration['mirror']['platform'], ignored: Ignored): Finding[] {
  const findings: Finding[] = []
  if (platform?.release !== undefined && platform.architectures?.length)
    findings.push(
      ignored(
        ['mirror', 'platform', 'architectures'],
        'info',
        'has no effect beside release: the release image decides about the architecture',
      ),
    )
  for (const [index, { full, minVersion, maxVersion }] of (platform?.channels ?? []).entries())
    if (full && minVersion !== undefined && maxVersion !== undefined)
      findings.push(
        ignored(
          ['mirror', 'platform', 'channels', index, 'full'],
          'warning',
          'has no effect beside minVersion and maxVersion',
        ),
      )
  return findings
}

/** For a file of its own, to tell where a configuration asks for nothing at all. */
export function asksForNothing({ mirror }: ImageSetConfiguration): boolean {
  const { platform, operators, additionalImages, helm } = mirror
  const hasRelease = platform?.release !== undefined || (platform?.channels?.length ?? 0) > 0
  const hasCharts = (helm?.repositories?.length ?? 0) + (helm?.local?.length ?? 0) > 0
  return !hasRelease && operators.length === 0 && additionalImages.length === 0 && !hasCharts
}
