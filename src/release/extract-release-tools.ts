/** Tools of a release, from what was asked for to a report: chosen, extracted, told which release they are of, and run. */
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { type CheckOptions, checkTool, type ToolCheck } from './extract-check.ts'
import { architectureAmong } from './extract-payload.ts'
import { type ExtractedTool, extractTools, type ToolsExtraction, type WantedTool } from './extract-tools.ts'
import { type ReleaseMarks, titleOf } from './patch-binary.ts'
import { readReleaseImage } from './payload-image.ts'
import { chooseTools, type Tool, type ToolChoice } from './tools.ts'

export interface ToolsRequest {
  readonly source: ContentSource
  readonly release: Reference
  readonly commands: ToolChoice['commands']
  readonly platform: ToolChoice['platform']
  /** Of a multi payload the image of this one, as Go names it. */
  readonly architecture?: string | undefined
  /** What the installer installs instead of the release as it was named: the same image at a mirror. */
  readonly releaseImage?: Reference | undefined
  readonly directory: string
  readonly isForced: boolean
  /** Absent: the tools are not run. */
  readonly check?: CheckOptions
  /** Called with the number of bytes of layers that newly arrived. */
  readonly onBytes?: (count: number) => void
  readonly signal?: AbortSignal
}

export interface ReportedTool extends ExtractedTool {
  readonly check: ToolCheck
}

export interface ToolsReport {
  /** What was put into the tools. */
  readonly marks: Required<ReleaseMarks>
  readonly tools: readonly ReportedTool[]
  readonly findings: readonly Finding[]
}

/** @throws KnownError USAGE, TOOL_ABSENT where there is not one of the tools, and what `extractTools` throws */
export async function extractReleaseTools(request: ToolsRequest): Promise<ToolsReport> {
  const { source, release, signal, check } = request
  const architecture = await architectureOf(request)
  const image = await readReleaseImage(release, { source, architecture, signal })
  const [{ payload, architecture: own }] = image.images
  const marks = {
    image: releaseImageOf(request, image.digest),
    version: payload.version,
    architecture: image.isIndex ? `multi (linux/${own})` : `linux/${own}`,
  }
  const wanted = wantedTools(own, request)
  const { directory, isForced, onBytes } = request
  const options = {
    source,
    release,
    payload,
    architecture: own,
    marks,
    directory,
    isForced,
    onBytes,
    ...(signal && { signal }),
  }
  const extraction = await extractTools(wanted, options)
  if (extraction.extracted.length === 0) throw noneOf(extraction, payload.version)
  const tools: ReportedTool[] = []
  for (const extracted of extraction.extracted) {
    const result = check
      ? await checkTool(extracted, check)
      : ({ outcome: 'not-run', why: 'it was not asked for' } as const)
    tools.push({ ...extracted, check: result })
  }
  const findings = [
    ...unavailableFindings(own, request),
    ...absentFindings(extraction, request),
    ...elsewhereFindings(extraction),
  ]
  return { marks, tools, findings: [...findings, ...tools.flatMap(toolFindings)] }
}

async function architectureOf(request: ToolsRequest): Promise<string | undefined> {
  const { architecture, platform, check, release } = request
  if (architecture !== undefined && architecture !== 'multi') return architecture
  const asked = platform !== 'all' && platform.os === 'linux' ? platform.architecture : undefined
  return architectureAmong(release, [asked, check?.machine?.architecture, 'amd64'], request)
}

/** As oc writes it: as it was asked for, without the tag, by the digest of the index where there is one. */
function releaseImageOf({ release, releaseImage }: ToolsRequest, digest: Digest): string {
  if (releaseImage?.digest !== undefined && releaseImage.digest !== digest) {
    throw new KnownError(
      'USAGE',
      `--release-image names ${releaseImage.digest}, and the release that the tools are of is ${digest}`,
      { hint: 'Name the repository of the mirror alone, HOST/PATH: the digest is the same there.' },
    )
  }
  const { registry, repository } = releaseImage ?? release
  return formatReference({ registry, repository, digest })
}

function wantedTools(releaseArchitecture: string, { commands, platform }: ToolsRequest): readonly WantedTool[] {
  const chosen = chooseTools({ releaseArchitecture, commands, platform })
  return chosen.map((tool) => ({ ...tool, fileName: fileNameOf(tool, { commands, platform }) }))
}

/**
 * The name of the command, `.exe` on windows; below a folder for each platform where there are several. One that is asked
 * for as `oc.rhel8` alone is called oc, as oc itself calls it.
 */
function fileNameOf(
  { command, os, architecture }: Tool,
  { commands, platform }: Pick<ToolsRequest, 'commands' | 'platform'>,
): string {
  const isOnlyVariant = Array.isArray(commands) && commands.length === 1
  const name = isOnlyVariant ? command.replace(/\.rhel\d+$/, '') : command
  const file = os === 'windows' ? `${name}.exe` : name
  return platform === 'all' ? `${os}-${architecture}/${file}` : file
}

function noneOf({ lacking }: ToolsExtraction, version: string): KnownError {
  const places = [...new Set(lacking.map(placeText))]
  return new KnownError('TOOL_ABSENT', `Release ${version} has none of these tools: ${places.join('; ')}`, {
    details: { version },
  })
}

function placeText({ image, path, pullspec }: ToolsExtraction['lacking'][number]): string {
  return pullspec === undefined ? `it has no image ${image}` : `${image} (${pullspec}) has no ${path}`
}

/** Tools that are not there: an error where they were asked for by name, as they are by default. */
function absentFindings({ absent, lacking }: ToolsExtraction, { commands, platform }: ToolsRequest): Finding[] {
  const severity = commands === 'all' || platform === 'all' ? 'info' : 'error'
  return absent.map((tool) =>
    finding({
      id: 'release.tool-absent',
      severity,
      summary: `there is no ${tool.command} for ${tool.os}/${tool.architecture} in this release`,
      evidence: lacking
        .filter(({ command, path }) => command === tool.command && tool.places.some((place) => place.path === path))
        .map(placeText)
        .join('; '),
      remedy:
        'Not every release has every tool. Take it out of one that has it, or for another platform: --command-os OS/ARCH.',
    }),
  )
}

/** Tools of older or newer payloads, which are not where they are expected first. */
function elsewhereFindings({ extracted, lacking }: ToolsExtraction): Finding[] {
  return extracted.flatMap(({ tool, from }) => {
    const [expected] = tool.places
    if (expected?.image === from.image) return []
    const missed = lacking.filter(({ command, path }) => command === tool.command && path === expected?.path)
    return finding({
      id: 'release.tool-elsewhere',
      severity: 'info',
      summary: `${tool.command} for ${tool.os}/${tool.architecture} was found in ${from.image} at ${from.path}`,
      evidence: missed.map(placeText).join('; '),
    })
  })
}

function toolFindings({ tool, file, missingMarks, marks, signature, check }: ReportedTool): Finding[] {
  const name = `${tool.command} for ${tool.os}/${tool.architecture}`
  const findings: Finding[] = []
  for (const mark of missingMarks) {
    const isImage = mark === 'image'
    findings.push({
      id: 'release.mark-absent',
      severity: isImage ? 'error' : 'warning',
      summary: `${name} has no place for the ${titleOf(mark)}: it stays as it was built`,
      remedy: isImage
        ? 'It would install another release. Set OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE to the release image when it runs.'
        : 'Nothing need be done where the tool is older than this place in it; otherwise ask where this image came from.',
    })
  }
  if (signature === 'certificate' && Object.keys(marks).length > 0) {
    findings.push({
      id: 'release.signature-broken',
      severity: 'warning',
      summary: `${name} was signed with a certificate, and is another file now that it names the release`,
      remedy: `Sign it again on a Mac: codesign --force --sign - ${file}`,
    })
  }
  if (check.outcome === 'differs') {
    findings.push({
      id: 'release.tool-differs',
      severity: 'error',
      summary: `${name} says something else of itself than was put into it`,
      evidence: check.differences.join('; '),
      remedy: 'Do not use it. Ask where this release image came from, and report it with the lines above.',
    })
  }
  if (check.outcome === 'not-run' && check.why.includes('GLIBC_')) {
    findings.push({
      id: 'release.tool-too-new',
      severity: 'info',
      summary: `${name} needs a newer system than this machine has`,
      remedy: `Take the one for RHEL 8, where the release has it: --command ${tool.command.replace(/\.rhel\d+$/, '')}.rhel8`,
    })
  }
  return findings.map(finding)
}

/** Of the tools that an installation needs, those that no payload has for the platform. */
function unavailableFindings(releaseArchitecture: string, { commands, platform }: ToolsRequest): Finding[] {
  if (commands !== 'usual' || platform === 'all') return []
  const tools = chooseTools({ releaseArchitecture, commands, platform })
  const others = chooseTools({ releaseArchitecture, commands, platform: 'all' }).filter(
    ({ command }) => !tools.some((tool) => tool.command === command),
  )
  return [...Map.groupBy(others, ({ command }) => command)].map(([command, those]) =>
    finding({
      id: 'release.tool-absent',
      severity: 'info',
      summary: `there is no ${command} for ${platform.os}/${platform.architecture} in any release for ${releaseArchitecture}`,
      remedy: `It is there for ${those.map(({ os, architecture }) => `${os}/${architecture}`).join(', ')}: --command ${command} --command-os OS/ARCH.`,
    }),
  )
}
