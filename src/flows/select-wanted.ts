/** The images that a run is to bring: what the configuration asks for, as far as the policy and `--retry-failed` let it. */
import { kubeVersionFor } from '../chart/kube-version.ts'
import type { ImageSetConfiguration } from '../config/image-set-configuration.ts'
import { formatMirrorTarget, type MirrorTarget } from '../mirror/destination.ts'
import { readFailed, selectFailed } from '../mirror/failed.ts'
import { type FailurePolicy, skippedClasses } from '../mirror/failure-policy.ts'
import type { MadeImage } from '../mirror/made-content.ts'
import { distinctImages, selectImages, withoutBlocked } from '../mirror/select.ts'
import type { SelectOptions } from '../mirror/select-release.ts'
import type { ContentClass, SelectedImage, Selection } from '../mirror/selection.ts'
import { parseReleaseTag } from '../openshift/release-tag.ts'
import type { Documents } from './archive-documents.ts'
import { type ChartImages, selectChartImages } from './charts.ts'
import { selectMade } from './made-images.ts'
import type { MirrorServices } from './mirror-services.ts'
import { type OperatorSelection, selectOperators } from './operators.ts'

export interface WantedOptions extends SelectOptions {
  readonly config: ImageSetConfiguration
  readonly target: MirrorTarget
  readonly policy: FailurePolicy
  /** Only what the last run could not bring. */
  readonly isRetry: boolean
  readonly services: MirrorServices
}

export interface WantedSelection extends Selection {
  /** To be laid over the source. */
  readonly made: readonly MadeImage[]
  /** For the other side of the gap, beside images. */
  readonly documents: Documents
  /** What `--retry-failed` made of the last run. */
  readonly retry?: Retry
}

export interface Retry {
  /** How many images failed in the last run, and are tried again. */
  readonly tried: number
  /** How many failed, and are no longer asked for. */
  readonly gone: number
}

/** @throws KnownError CONFIG_INVALID */
export async function selectWanted(options: WantedOptions): Promise<WantedSelection> {
  const { config, target, policy, isRetry, workspace, services } = options
  const { graphs, versionFilter, trust } = services
  const skip = skippedClasses(policy)
  const { bootFiles, ...images } = await selectImages(config, target, {
    ...options,
    ...{ skip, graphs, versionFilter },
    checkRelease: trust && ((release, digest, context) => trust.check(release, digest, context)),
  })
  const made = await selectMade(config, {
    ...options,
    making: services.making,
    cwd: services.cwd,
    check: services.checkImage,
    skip,
    bootFiles,
  })
  const others = [...images.images, ...made.images]
  const charts = await selectAllowedCharts(options, skip)
  const operators = await selectAllowedOperators(options, { skip, others: [...others, ...charts.images] })
  const all = [images, made, charts, operators]
  const selection = {
    made: [...made.made, ...charts.made, ...operators.made],
    documents: charts.documents,
    blocked: [...images.blocked, ...charts.blocked, ...operators.blocked],
    images: distinctImages([...others, ...charts.images, ...operators.images]),
    unreadable: all.flatMap(({ unreadable }) => unreadable),
    findings: all.flatMap(({ findings }) => findings),
  }
  if (!isRetry) return selection
  const failed = (await readFailed(workspace)).get(formatMirrorTarget(target)) ?? []
  const again = selectFailed(selection.images, failed)
  return { ...selection, images: again.images, retry: { tried: again.images.length, gone: again.gone.length } }
}

async function selectAllowedCharts(
  { config: { mirror }, services, local, ...options }: WantedOptions,
  skip: ReadonlySet<ContentClass>,
): Promise<ChartImages & Pick<Selection, 'blocked'>> {
  const { charts, documents, cwd = '' } = services
  const content = skip.has('helm') ? undefined : mirror.helm
  const kubeVersion = kubeVersionFor(mirror.platform ?? {})
  const tools = local && charts && { ...charts, helm: { ...charts.helm, kubeVersion } }
  const found = await selectChartImages(content, { ...options, cwd, documents, tools })
  return { ...found, ...withoutBlocked(found.images, mirror) }
}

interface Beside {
  readonly skip: ReadonlySet<ContentClass>
  /** Images of other classes. */
  readonly others: readonly SelectedImage[]
}

async function selectAllowedOperators(
  { config: { mirror }, services, local, ...options }: WantedOptions,
  { skip, others }: Beside,
): Promise<OperatorSelection & Pick<Selection, 'blocked'>> {
  const entries = skip.has('operator') ? [] : mirror.operators
  const isMaking = local !== undefined
  const { checkImage: check, cwd = '' } = services
  const releases = others.filter(({ isReleaseImage }) => isReleaseImage).map(versionOf)
  const found = await selectOperators(entries, { ...options, local, isMaking, others, releases, check, cwd })
  return { ...found, ...withoutBlocked(found.images, mirror) }
}

function versionOf({ destination: { tag = '' } }: SelectedImage): string {
  return parseReleaseTag(tag).version
}
