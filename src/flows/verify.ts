/** The paths of `sallyport verify mirror` and `sallyport verify egress`: from a workspace to findings. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finding, finding } from '../errors/finding.ts'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { type DoneImage, readDone } from '../mirror/done.ts'
import { LocalContent } from '../mirror/local-content.ts'
import { noteBroken } from '../mirror/note-broken.ts'
import { readRelease } from '../mirror/select-release.ts'
import { type VerifyOptions, type VerifyReport, verifyMirror } from '../mirror/verify-mirror.ts'
import { readWanted, type WantedImage } from '../mirror/wanted.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { ContentSource } from '../oci/content.ts'
import { parseReference, type Reference } from '../oci/reference.ts'
import { type ImageMirrorSet, type MirrorSetKind, parseImageMirrorSets } from '../openshift/image-mirror-set.ts'
import { nodeRegistriesConf } from '../registries/node-conf.ts'
import type { RegistriesConf } from '../registries/registries-conf.ts'

/**
 * What a workspace says is at a target, and what its last run was asked for and did not bring.
 *
 * @param target `HOST/PATH`; may be left out where the workspace knows only one
 * @throws KnownError USAGE
 */
export async function mirroredImages(
  workspace: Workspace,
  target: string | undefined,
): Promise<{ target: string; images: readonly DoneImage[]; neverArrived: readonly WantedImage[] }> {
  const recorded = await readDone(workspace)
  const wanted = await readWanted(workspace)
  const names = [...new Set([...recorded.keys(), ...wanted.keys()])]
  const name = target ?? (names.length === 1 ? names[0] : undefined)
  if (name !== undefined && names.includes(name)) {
    const images = recorded.get(name) ?? []
    return { target: name, images, neverArrived: neverArrived(wanted.get(name) ?? [], images) }
  }
  const known = names.map((one) => `docker://${one}`).join(', ')
  const summary =
    names.length === 0
      ? `Nothing was mirrored with the workspace ${workspace.root}`
      : `The workspace ${workspace.root} knows ${known}; ${name === undefined ? 'say which' : `nothing of docker://${name}`}`
  throw new KnownError('USAGE', summary, {
    hint: 'Name the workspace and the destination of an earlier sallyport mirror.',
  })
}

function neverArrived(wanted: readonly WantedImage[], arrived: readonly DoneImage[]): WantedImage[] {
  const sources = new Map(arrived.map(({ destination, source }) => [destination, source]))
  return wanted.filter(({ destination, source }) => sources.get(destination) !== source)
}

/**
 * Verifies what a workspace says is at a target, and notes there what is broken: the next mirror run then does not take
 * the tags of these images for a proof, and looks at each of their blobs.
 *
 * @param target as for `mirroredImages`
 * @returns with `isNoted` false where there was something to note and this user, or a mirror at work, did not let us
 */
export async function verifyMirrored(
  workspace: Workspace,
  target: string | undefined,
  options: VerifyOptions,
): Promise<{ target: string; report: VerifyReport; isNoted: boolean }> {
  const { target: name, images, neverArrived: absent } = await mirroredImages(workspace, target)
  const verified = await verifyMirror(images, options)
  const report = { ...verified, findings: [...absent.map(notMirrored), ...verified.findings] }
  const isNoted = report.broken.size === 0 || (await noteBroken(workspace, name, report.broken))
  return { target: name, report, isNoted }
}

function notMirrored({ source, destination, why }: WantedImage): Finding {
  return finding({
    id: 'mirror.not-mirrored',
    severity: 'error',
    summary: `${source} was asked for (${why}) and has not arrived as ${destination}`,
    remedy: 'Run sallyport mirror again with the same configuration; its output names what stops this image.',
  })
}

/**
 * The registries.conf that the nodes of a cluster have once the resources of a directory are applied.
 *
 * @throws KnownError FILE_UNREADABLE, CONFIG_INVALID, MIRROR_SET_INVALID
 */
export async function nodeConfOf(directory: string): Promise<RegistriesConf> {
  const sets = await readMirrorSets(directory)
  const entries = (kind: MirrorSetKind) =>
    sets
      .filter((set) => set.kind === kind)
      .flatMap((set) => set.entries)
      .map(({ source, mirrors, mirrorSourcePolicy }) => ({
        source,
        mirrors,
        ...(mirrorSourcePolicy && { mirrorSourcePolicy }),
      }))
  return nodeRegistriesConf({
    idms: entries('ImageDigestMirrorSet'),
    itms: entries('ImageTagMirrorSet'),
    icsp: entries('ImageContentSourcePolicy'),
  })
}

async function readMirrorSets(directory: string): Promise<ImageMirrorSet[]> {
  let names: string[]
  try {
    names = await readdir(directory)
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES')) throw cause
    throw new KnownError('FILE_UNREADABLE', `Cannot read the cluster resources in ${directory}`, {
      hint: 'Name the workspace of an earlier sallyport mirror, or a directory of YAML files with --resources.',
      cause,
    })
  }
  const files = names.filter((name) => /\.ya?ml$/.test(name)).sort()
  const sets = await Promise.all(
    files.map(async (name) => parseImageMirrorSets(await readFile(join(directory, name), 'utf8'), name)),
  )
  return sets.flat()
}

/** The release image and all it names, read through `source` as a node would read it. */
export async function releaseReferences(
  release: Reference,
  options: { workspace: Workspace; source: ContentSource; signal: AbortSignal },
): Promise<Reference[]> {
  const local = new LocalContent(options.workspace)
  const { components } = await readRelease(release, { ...options, local })
  return [release, ...components.map(({ reference }) => reference)]
}

/** One image a line; empty lines and what follows a # are passed over; of `source=destination`, the source. */
export function parseImageList(text: string): Reference[] {
  return text
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => parseReference(line.replace(/^docker:\/\//, '').replace(/=docker:\/\/.*$/, '')))
}
