/**
 * The bootstrap rehearsal: would a host that boots from this very file come up, in the network as it is now.
 *
 * Level 1 asks for everything that the host and the nodes will ask for; level 2 runs the scripts of the file against it.
 */
import { type Finding, finding, type Severity } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { Env } from '../host/env.ts'
import type { Log } from '../host/log.ts'
import type { IgnitionConfig } from '../ignition/config.ts'
import { type ReadConfig, readIgnitionConfig } from '../ignition/read-config.ts'
import { refuseRemote, renderConfig } from '../ignition/render-config.ts'
import { type BootstrapConfig, readBootstrap } from '../openshift/bootstrap/bootstrap-config.ts'
import { type BootstrapAccess, openBootstrapAccess } from './bootstrap-access.ts'
import { checkIgnition } from './level-one/check-ignition.ts'
import { rehearseLevelOne } from './level-one/rehearse-level-one.ts'
import { levelTwoFindings } from './level-two/level-two-findings.ts'
import type { LevelTwoReport } from './level-two/level-two-report.ts'
import { type LevelTwoOptions, runLevelTwo } from './level-two/run-level-two.ts'
import { notProven } from './not-proven.ts'
import { redacted } from './redacted.ts'
import type { RehearsalReport, RehearsedBootstrap } from './rehearsal-report.ts'
import { verdictOf, withoutEchoes } from './verdict.ts'

export interface RehearsalSettings {
  readonly clock: Clock
  readonly log: Log
  readonly env: Env
  readonly signal: AbortSignal
  readonly level: 1 | 2
  /** Of the control plane, as Go names it. Default: what the config says, else amd64. */
  readonly architecture?: string
  /** Addresses of names that this machine does not know. */
  readonly via: ReadonlyMap<string, string>
  /** For a connection, and for every answer, in milliseconds. */
  readonly timeoutMs: number
  /** Ask registries of the Internet too. */
  readonly isConnected: boolean
  /** Ids of findings that count as notes. */
  readonly accepted: readonly string[]
  readonly onUnit?: LevelTwoOptions['onUnit']
}

export interface RehearsedFile {
  readonly text: string
  /** Names it in the report. */
  readonly fileName: string
}

/** @throws KnownError INTERRUPTED, PROGRAM_FAILED: what is wrong with the file or the network is in the report */
export async function rehearse(file: RehearsedFile, settings: RehearsalSettings): Promise<RehearsalReport> {
  const { clock, accepted } = settings
  const startedAt = clock.now()
  const parts = await rehearsed(file, settings)
  const findings = parts.findings.map((one) =>
    accepted.includes(one.id) ? { ...one, severity: 'info' as const } : one,
  )
  const { levelOne, levelTwo, bootstrap } = parts
  const { findings: _, ...facts } = levelOne ?? { findings: [] }
  return redacted({
    file: file.fileName,
    rehearsedAt: new Date(startedAt).toISOString(),
    verdict: verdictOf({ ...parts, findings: bySeverity(findings) }),
    ...(bootstrap && { bootstrap }),
    findings: bySeverity(findings),
    accepted: accepted.filter((id) => parts.findings.some((one) => one.id === id)),
    ...('images' in facts && { levelOne: facts }),
    ...(levelTwo && { levelTwo }),
    notProven: notProven({ isRun: levelTwo !== undefined && levelTwo.unavailable === undefined }),
    durationMs: clock.now() - startedAt,
  })
}

interface Parts {
  readonly bootstrap?: RehearsedBootstrap
  readonly findings: readonly Finding[]
  readonly levelOne?: Awaited<ReturnType<typeof rehearseLevelOne>>
  readonly levelTwo?: LevelTwoReport
}

async function rehearsed(file: RehearsedFile, settings: RehearsalSettings): Promise<Parts> {
  const { text, fileName } = file
  const read = await readWhole(file)
  if ('findings' in read) return read
  const bootstrap = readBootstrap(read.config, { fileName })
  const architecture = settings.architecture ?? ownArchitecture(bootstrap)
  const openAccess = (host: BootstrapConfig) => openBootstrapAccess(host, { ...settings, architecture })
  const access = openAccess(bootstrap)
  try {
    const { config } = read
    const levelOne = await rehearseLevelOne(bootstrap, access, { ...settings, text, config, openAccess })
    const isRunnable = settings.level === 2 && bootstrap.releaseImage !== undefined
    const levelTwo = isRunnable ? await secondLevel(bootstrap, { config, access, settings }) : undefined
    const echoes = levelTwo === undefined ? [] : withoutEchoes(levelOne.findings, levelTwo, levelTwoFindings(levelTwo))
    return {
      bootstrap: described(bootstrap, { specification: read.version, architecture }),
      findings: [...levelOne.findings, ...echoes],
      levelOne,
      ...(levelTwo && { levelTwo }),
    }
  } finally {
    access.close()
  }
}

interface SecondLevel {
  readonly config: IgnitionConfig
  readonly access: BootstrapAccess
  readonly settings: RehearsalSettings
}

function secondLevel(bootstrap: BootstrapConfig, { config, access, settings }: SecondLevel): Promise<LevelTwoReport> {
  const { clock, signal, onUnit } = settings
  return runLevelTwo(bootstrap, { config, access, clock, signal, ...(onUnit && { onUnit }) })
}

/** With what it merges from data URLs. What no host could start from has only findings. */
async function readWhole(file: RehearsedFile): Promise<ReadConfig | { findings: readonly Finding[] }> {
  const { text, fileName } = file
  try {
    const { config, version } = readIgnitionConfig(text, fileName)
    return { config: await renderConfig(config, refuseRemote), version }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    if (error.code !== 'IGNITION_INVALID' && error.code !== 'IGNITION_REMOTE') throw error
    const told = error.code === 'IGNITION_REMOTE' ? [pointerFinding(error, fileName)] : invalidFindings(error, file)
    return { findings: told }
  }
}

function pointerFinding({ message }: KnownError, fileName: string): Finding {
  return finding({
    id: 'rehearse.no-bootstrap',
    severity: 'error',
    summary: `${fileName} points to a config somewhere else: ${message}`,
    remedy:
      'Rehearse the config that it points to: bootstrap.ign, as openshift-install create ignition-configs writes it, or what sallyport ignition patch made of it.',
    where: { file: fileName },
  })
}

/** With lines and columns where validation has them. */
function invalidFindings({ message, hint }: KnownError, { text, fileName }: RehearsedFile): readonly Finding[] {
  const told = checkIgnition(text, fileName).filter(({ severity }) => severity === 'error')
  if (told.length > 0) return told
  return [
    finding({ id: 'ignition.invalid', severity: 'error', summary: message, remedy: hint, where: { file: fileName } }),
  ]
}

function ownArchitecture({ cluster }: BootstrapConfig): string {
  const { architecture = 'amd64' } = cluster
  return architecture === 'multi' ? 'amd64' : architecture
}

function described(
  { releaseImage, distribution, cluster }: BootstrapConfig,
  known: Pick<RehearsedBootstrap, 'specification' | 'architecture'>,
): RehearsedBootstrap {
  const { names, platform, minor } = cluster
  return {
    ...known,
    distribution,
    ...(releaseImage && { releaseImage: releaseImage.text }),
    ...(names.domain !== undefined && { domain: names.domain }),
    ...(platform !== undefined && { platform }),
    ...(minor !== undefined && { minor }),
  }
}

const order: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

function bySeverity(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((one, other) => order[one.severity] - order[other.severity])
}
