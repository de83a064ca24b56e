/** What was taken out of a release, for people. */
import type { Finding } from '../../errors/finding.ts'
import { redact } from '../../errors/redact.ts'
import { hexOf } from '../../oci/digest.ts'
import type { BootFile, BootImage } from '../../openshift/boot-image.ts'
import { filesStanza, type ReleaseBootImages } from '../../release/extract-boot-images.ts'
import type { ManifestsReport } from '../../release/extract-manifest-files.ts'
import type { ReportedTool, ToolsReport } from '../../release/extract-release-tools.ts'
import { renderFindings } from './findings.ts'
import { count, formatBytes } from './quantities.ts'
import { tableLines } from './table.ts'

export function renderTools({ marks, tools, findings }: ToolsReport): string {
  const rows = tools.map((one) => [
    one.tool.command,
    `${one.tool.os}/${one.tool.architecture}`,
    formatBytes(one.size),
    one.file,
    stateOf(one),
  ])
  const columns = [
    { title: 'tool' },
    { title: 'for' },
    { title: 'size', isRight: true },
    { title: 'file' },
    { title: '' },
  ]
  const lines = [
    `Tools of release ${marks.version} for ${marks.architecture}`,
    ...tableLines(columns, rows),
    '',
    ...(tools.some(({ marks: own }) => own.image !== undefined) ? [`openshift-install installs ${marks.image}`] : []),
    'SHA-256:',
    ...tools.map(({ sha256, file }) => `  ${sha256}  ${file}`),
  ]
  const isAbsence = ({ id, severity }: Finding) => id === 'release.tool-absent' && severity === 'info'
  return redact(
    `${lines.join('\n')}\n${absenceText(findings.filter(isAbsence))}${findingsText(findings.filter((one) => !isAbsence(one)))}`,
  )
}

/** What was to be taken along if it is there. */
function absenceText(findings: readonly Finding[]): string {
  if (findings.length === 0) return ''
  const lines = findings.map(({ summary, evidence, remedy }) => `  ${summary}: ${evidence ?? remedy}`)
  return `\nNot everything is in every release:\n${lines.join('\n')}\n`
}

function findingsText(findings: readonly Finding[]): string {
  return findings.length > 0 ? `\n${renderFindings(findings)}` : ''
}

function stateOf({ placed, check, signature }: ReportedTool): string {
  const states = [
    ...(placed === 'same' ? ['was there already'] : []),
    ...(signature === 'remade' ? ['signed ad hoc again'] : []),
    checkText(check),
  ]
  return states.join('; ')
}

function checkText(check: ReportedTool['check']): string {
  switch (check.outcome) {
    case 'confirmed':
      return check.says.length > 0 ? `runs, and says: ${check.says.map(shortened).join(', ')}` : 'runs'
    case 'differs':
      return 'runs, and says something else'
    case 'not-run':
      return `not run: ${check.why}`
  }
}

function shortened(text: string): string {
  return text.replace(/^image .*@(sha256:[0-9a-f]{12}).*$/, 'image $1…')
}

const whatTitles = { 'credentials-requests': 'CredentialsRequest', manifests: 'manifest' } as const

export function renderManifests(report: ManifestsReport): string {
  const { version, what, directory, platform, files, manifests, leftOut, findings } = report
  const where = platform === undefined ? '' : ` for ${platform}`
  const same = files.filter(({ placed }) => placed === 'same').length
  const lines = [
    `${count(manifests, whatTitles[what])} of release ${version}${where} in ${count(files.length, 'file')} in ${directory}${same > 0 ? `, ${same} of which were there already` : ''}`,
    ...(what === 'credentials-requests' ? files.map(({ file }) => `  ${file.slice(directory.length + 1)}`) : []),
    ...leftOutLines(leftOut),
  ]
  return redact(`${lines.join('\n')}\n${findingsText(findings)}`)
}

function leftOutLines(leftOut: ManifestsReport['leftOut']): string[] {
  const groups = [...Map.groupBy(leftOut, ({ why }) => why)].toSorted(([, one], [, other]) => other.length - one.length)
  return groups.map(([why, those]) => {
    const names = those.length > 4 ? count(those.length, 'object') : those.map(({ name }) => name).join(', ')
    return `  left out: ${names}: ${why}`
  })
}

export function renderBootImages(release: ReleaseBootImages, images: readonly BootImage[]): string {
  const files = images.filter((image) => image.kind === 'file')
  const others = images.filter((image) => image.kind !== 'file')
  const lines = [
    `Boot images of release ${release.version} (${release.name}): ${count(files.length, 'file')} to carry`,
    ...files.flatMap(fileLines),
    ...others.flatMap(otherLines),
    ...(files.length > 0 ? stanzaLines(files) : []),
  ]
  return redact(`${lines.join('\n')}\n`)
}

function stanzaLines(files: readonly BootFile[]): string[] {
  const platforms = [...new Set(files.map(({ platform }) => platform))]
  const short = platforms.map((platform) => `{ platform: ${platform} }`).join(', ')
  return [
    '',
    'To carry them with the images:',
    '',
    filesStanza(files).trimEnd(),
    '',
    `The same, where the release is in that configuration: platform.bootImages: [${short}]`,
  ]
}

function fileLines({ platform, architecture, format, role, location, digest, uncompressedDigest }: BootFile): string[] {
  return [
    `  ${platform} ${architecture} ${format}${role === 'disk' ? '' : ` ${role}`}`,
    `    ${location}`,
    `    sha256 ${hexOf(digest)}${uncompressedDigest ? `, unpacked ${hexOf(uncompressedDigest)}` : ''}`,
  ]
}

function otherLines(image: Exclude<BootImage, BootFile>): string[] {
  const title = `  ${image.platform} ${image.architecture}`
  switch (image.kind) {
    case 'regions':
      return [
        `${title}, in the cloud already; the files are for regions that are not here:`,
        ...[...image.regions].map(([region, id]) => `    ${region}  ${id}`),
      ]
    case 'cloud':
      return [`${title}, in the cloud already: ${image.project}/${image.name ?? image.family ?? ''}`]
    case 'cloud-disk':
      return [`${title}, read by the cloud from ${image.location}`]
    case 'container':
      return [`${title}, a container image: ${image.digestReference ?? image.image}`]
  }
}
