/** How commands that look into releases are told which one, and what opens it. */
import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { parseVolumeName } from '../archive/format/volume-names.ts'
import { findArchives } from '../archive/read/find-archives.ts'
import { KnownError } from '../errors/known-error.ts'
import {
  openReleaseSource,
  type ReleaseLocation,
  type ReleaseSource,
  releaseByVersion,
} from '../flows/release-source.ts'
import { directoryAt } from '../mirror/workspace.ts'
import { parseReference } from '../oci/reference.ts'
import { readArchitecture } from './architectures.ts'
import { archivesAt } from './archive-paths.ts'
import type { CliContext } from './context.ts'
import { type AccessOptions, addAccessOptions, openRegistries } from './registry-access.ts'

export interface ReleaseOptions extends AccessOptions {
  from?: string
  release?: string
  arch?: string
}

/** For `--help`. */
export const releaseArgumentHelp =
  'HOST/PATH:TAG or HOST/PATH@DIGEST, a version alone (4.18.9), or a directory or volume with archives'

export function addReleaseOptions(command: Command): Command {
  command
    .option('--from <dir>', 'a directory with archives of sallyport or of oc-mirror v2: DIR or file://DIR')
    .option('--release <version>', 'which release, where archives carry several')
    .option('--arch <architecture>', 'amd64, arm64, ppc64le, s390x or multi', readArchitecture)
  return addAccessOptions(command)
}

/**
 * Opens what the command line names; where it is a registry, through registries.conf.
 *
 * @throws KnownError USAGE, REFERENCE_INVALID, RELEASE_ABSENT, and what opening archives and loading registries.conf throw
 */
export async function openRelease(
  argument: string | undefined,
  options: ReleaseOptions,
  context: CliContext,
): Promise<ReleaseSource> {
  const location = await releaseLocation(argument, options, context.cwd)
  const registries = await openRegistries(options, context)
  try {
    const { close, ...opened } = await openReleaseSource(location, {
      registry: registries.source,
      signal: context.signal,
    })
    const closeAll = async () => {
      await close()
      registries.close()
    }
    return { ...opened, close: closeAll }
  } catch (error) {
    registries.close()
    throw error
  }
}

const versionAlone = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/

async function releaseLocation(
  argument: string | undefined,
  { from, release, arch }: ReleaseOptions,
  cwd: string,
): Promise<ReleaseLocation> {
  if (from !== undefined) return archiveLocation(from, { release: release ?? argument, architecture: arch }, cwd)
  if (argument === undefined) {
    throw new KnownError('USAGE', 'No release is named', {
      hint: 'Name a release image, a version, or a directory with archives; --help ends with examples.',
    })
  }
  if (isOnDisk(argument, cwd)) return archiveLocation(argument, { release, architecture: arch }, cwd)
  if (release !== undefined) {
    throw new KnownError('USAGE', `--release chooses among archives, and ${argument} is none`, {
      hint: 'Name the version in its place, or the archives with --from DIR.',
    })
  }
  if (versionAlone.test(argument)) return { kind: 'registry', reference: releaseByVersion(argument, arch ?? 'amd64') }
  const reference = parseReference(argument.replace(/^docker:\/\//, ''))
  return { kind: 'registry', reference }
}

function isOnDisk(argument: string, cwd: string): boolean {
  if (/^(?:file:\/\/|\.{0,2}\/)/.test(argument) || parseVolumeName(basename(argument))) return true
  return existsSync(directoryAt(argument.replace(/:\d{1,15}$/, ''), cwd))
}

async function archiveLocation(
  location: string,
  wanted: { readonly release: string | undefined; readonly architecture: string | undefined },
  cwd: string,
): Promise<ReleaseLocation> {
  const directory = directoryAt(location, cwd)
  const isDirectory = statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true
  const isForeign = isDirectory && (await findArchives(directory)).length === 0
  if (isForeign) return { kind: 'oc-mirror', directory, ...wanted }
  return { kind: 'archives', archives: await archivesAt(location, cwd), ...wanted }
}
