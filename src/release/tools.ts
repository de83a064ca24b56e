/**
 * Which tools a payload has, for which machines, and where in which image each is.
 *
 * Source: openshift/oc `pkg/cli/admin/release/extract_tools.go` (`availableTargets`), which calls this table an API that
 * stays as it is for two releases at least.
 */
import { KnownError } from '../errors/known-error.ts'
import type { ReleaseMark } from './patch-binary.ts'

export type ToolOs = 'linux' | 'mac' | 'windows'

export interface ToolPlatform {
  readonly os: ToolOs
  /** As Go names it. */
  readonly architecture: string
}

export interface ToolPlace {
  /** The name of the component in the payload. */
  readonly image: string
  /** Relative to the root of the image. */
  readonly path: string
}

export interface Tool extends ToolPlatform {
  /** As `--command` names it. */
  readonly command: string
  /** The first that the payload has counts: older ones have fewer. */
  readonly places: readonly ToolPlace[]
  /** What is put into it. */
  readonly marks: readonly ReleaseMark[]
}

/** What an installation needs on a bastion. */
const usualCommands: readonly string[] = ['openshift-install', 'oc', 'ccoctl']
const linuxArchitectures = ['amd64', 'arm64', 'ppc64le', 's390x']
const variants = ['', '.rhel8', '.rhel9']
const installerMarks: readonly ReleaseMark[] = ['image', 'version', 'architecture']

export interface ToolChoice {
  /** Of the release image, as Go names it. */
  readonly releaseArchitecture: string
  /** `usual`: what an installation needs; `all`: everything that the table has. */
  readonly commands: readonly string[] | 'usual' | 'all'
  readonly platform: ToolPlatform | 'all'
}

/**
 * @throws KnownError USAGE where a command that is named is in no payload, or not for the platform
 */
export function chooseTools({ releaseArchitecture, commands, platform }: ToolChoice): readonly Tool[] {
  const all = toolsOf(releaseArchitecture)
  const fitting = all.filter(
    ({ os, architecture }) => platform === 'all' || (os === platform.os && architecture === platform.architecture),
  )
  if (commands === 'all') return fitting
  if (commands === 'usual') return fitting.filter(({ command }) => usualCommands.includes(command))
  for (const command of commands) {
    if (!fitting.some((tool) => tool.command === command)) throw unavailable(command, all, platform)
  }
  return fitting.filter(({ command }) => commands.includes(command))
}

/** Every tool that a payload of this architecture may have. */
export function toolsOf(releaseArchitecture: string): readonly Tool[] {
  return [
    ...linuxArchitectures.flatMap((architecture) => linuxTools(architecture, releaseArchitecture)),
    ...macTools('amd64', 'mac'),
    ...macTools('arm64', 'mac_arm64'),
    ...clients({ os: 'windows', architecture: 'amd64' }, [artifact('cli-artifacts', 'windows', 'oc.exe')]),
  ]
}

function linuxTools(architecture: string, releaseArchitecture: string): Tool[] {
  const platform = { os: 'linux', architecture } as const
  const isOwn = architecture === releaseArchitecture
  const folder = `linux_${architecture}`
  const oc = artifact('cli-artifacts', folder, 'oc')
  const installer = artifact('installer-artifacts', folder, 'openshift-install')
  const hasInstaller = isOwn || architecture === 'amd64' || architecture === 'arm64'
  return [
    ...(hasInstaller
      ? [installerOf(platform, isOwn ? [binary('installer', 'openshift-install'), installer] : [installer])]
      : []),
    ...clients(platform, isOwn ? [binary('cli', 'oc'), oc] : [oc]),
    ...variants.slice(1).map(
      (variant): Tool => ({
        ...client(platform, [artifact('cli-artifacts', folder, `oc${variant}`)]),
        command: `oc${variant}`,
      }),
    ),
    ...(isOwn ? ownTools(platform) : []),
  ]
}

/** Those that a payload has for its own architecture alone. */
function ownTools(platform: ToolPlatform): Tool[] {
  const places = [binary('baremetal-installer', 'openshift-install')]
  return [
    ...['openshift-baremetal-install', 'openshift-install-fips'].map((command) => ({
      ...installerOf(platform, places),
      command,
    })),
    ...variants.map((variant): Tool => {
      const command = `ccoctl${variant}`
      return { ...platform, command, places: [binary('cloud-credential-operator', command)], marks: [] }
    }),
  ]
}

function macTools(architecture: string, folder: string): Tool[] {
  const platform = { os: 'mac', architecture } as const
  return [
    installerOf(platform, [artifact('installer-artifacts', folder, 'openshift-install')]),
    ...clients(platform, [artifact('cli-artifacts', folder, 'oc')]),
  ]
}

function installerOf(platform: ToolPlatform, places: readonly ToolPlace[]): Tool {
  return { ...platform, command: 'openshift-install', places, marks: installerMarks }
}

/** oc, and the same program under the name by which it is kubectl. */
function clients(platform: ToolPlatform, places: readonly ToolPlace[]): Tool[] {
  return [client(platform, places), { ...client(platform, places), command: 'kubectl' }]
}

function client(platform: ToolPlatform, places: readonly ToolPlace[]): Tool {
  return { ...platform, command: 'oc', places, marks: ['version'] }
}

function binary(image: string, name: string): ToolPlace {
  return { image, path: `usr/bin/${name}` }
}

function artifact(image: string, folder: string, name: string): ToolPlace {
  return { image, path: `usr/share/openshift/${folder}/${name}` }
}

function unavailable(command: string, all: readonly Tool[], platform: ToolPlatform | 'all'): KnownError {
  const others = all.filter((tool) => tool.command === command)
  const where = platform === 'all' ? '' : ` for ${platform.os}/${platform.architecture}`
  const names = [...new Set(all.map((tool) => tool.command))].join(', ')
  const hint =
    others.length > 0
      ? `It has it for ${others.map((tool) => `${tool.os}/${tool.architecture}`).join(', ')}: --command-os OS/ARCH.`
      : `The tools of a payload are ${names}.`
  return new KnownError('USAGE', `The payload has no ${command}${where}`, { details: { command }, hint })
}
