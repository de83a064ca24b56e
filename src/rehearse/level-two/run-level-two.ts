/**
 * Level 2 of the rehearsal: the scripts of this very config, run in a sandbox from the boot to the end of bootkube, with
 * stand-ins that ask level 1.
 *
 * Where an image cannot be pulled, the script that pulls it fails as it would on the machine, in its own words and with its
 * own record.
 */
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import type { IgnitionConfig } from '../../ignition/config.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { BootstrapAccess } from '../bootstrap-access.ts'
import { openSandbox, whyNoSandbox } from '../sandbox/sandbox.ts'
import { createStandIns } from '../stand-ins/stand-ins.ts'
import { Boot, mainUnit } from './boot.ts'
import { planBoot } from './boot-plan.ts'
import type { LevelTwoReport, RehearsedUnit } from './level-two-report.ts'
import { placeConfig } from './place-config.ts'
import type { UnitPlace, UnitRun } from './unit-run.ts'

export interface LevelTwoOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** For the whole, in milliseconds. Default: 60 s. */
  readonly timeLimitMs?: number
  /** Where the sandbox has its files. Default: the folder for temporary files. */
  readonly tempFolder?: string
  /** Told of what begins and ends, for a person who waits. */
  readonly onUnit?: (name: string, outcome: RehearsedUnit['outcome'] | 'started') => void
}

export interface LevelTwoSubject extends LevelTwoOptions {
  readonly config: IgnitionConfig
  readonly access: BootstrapAccess
}

/** @throws KnownError PROGRAM_FAILED, INTERRUPTED */
export async function runLevelTwo(bootstrap: BootstrapConfig, subject: LevelTwoSubject): Promise<LevelTwoReport> {
  const { clock, signal, tempFolder = tmpdir() } = subject
  const startedAt = clock.now()
  const unavailable = await whyNoSandbox()
  if (unavailable !== undefined) return notRun(unavailable)
  let directory: string | undefined
  try {
    directory = await mkdtemp(join(tempFolder, 'sallyport-rehearsal-'))
    const ran = await runIn(directory, bootstrap, subject)
    // Scripts that ran out of disk here say nothing about the machine to be.
    const isCramped = ran.units.some(({ journal }) => journal.some((line) => line.includes('No space left on device')))
    if (isCramped) return notRun(noSpaceIn(tempFolder))
    return { ...ran, durationMs: clock.now() - startedAt }
  } catch (error) {
    signal.throwIfAborted()
    const isFull =
      hasSystemCode(error, 'ENOSPC', 'EDQUOT') || (error instanceof KnownError && error.code === 'DISK_FULL')
    if (isFull) return notRun(noSpaceIn(tempFolder))
    if (error instanceof UnmakeableConfig) return notRun(`the config cannot be made a machine: ${error.message}`)
    throw error
  } finally {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true })
  }
}

function noSpaceIn(folder: string): string {
  return `no space is left in ${folder}; TMPDIR names another folder`
}

/** What Ignition would refuse to make of the machine, too. */
class UnmakeableConfig extends Error {}

async function runIn(
  directory: string,
  bootstrap: BootstrapConfig,
  { config, access, ...options }: LevelTwoSubject,
): Promise<Omit<LevelTwoReport, 'durationMs'>> {
  const root = join(directory, 'root')
  const logOf = (unit: string) => join(directory, `${unit.replaceAll('/', '_')}.log`)
  await placeConfig(config, root, options.signal).catch((error: unknown) => {
    const isRefused = error instanceof KnownError && error.code !== 'DISK_FULL' && error.code !== 'INTERRUPTED'
    throw isRefused ? new UnmakeableConfig(error.message) : error
  })
  const unknown = new Set<string>()
  const running = new Map<string, UnitRun>()
  const journal = (unit: string) => readFileSync(logOf(unit), 'utf8')
  const standIns = createStandIns(
    { ...access, bootstrap, journal },
    {
      onCall: (answered) => running.get(answered.call.unit)?.noteCall(answered),
      onUnknown: (what) => unknown.add(what),
    },
  )
  const sandbox = await openSandbox({ directory, standIns: standIns.names, answer: standIns.answer })
  try {
    const place = { sandbox, root, clock: options.clock, logOf }
    const units = await reachTargets(bootstrap, new Boot(place, running, options), { ...options, place })
    const isComplete = units.some(({ name, outcome }) => name === mainUnit && outcome === 'succeeded')
    return { units, isComplete, unknownPrograms: [...unknown].sort() }
  } finally {
    sandbox.close()
  }
}

/** From the target that the generators choose to that of every boot, as long as the time of the rehearsal lasts. */
async function reachTargets(
  bootstrap: BootstrapConfig,
  boot: Boot,
  { place, clock, signal, timeLimitMs = 60_000 }: LevelTwoOptions & { readonly place: UnitPlace },
): Promise<readonly RehearsedUnit[]> {
  const stop = () => boot.stop()
  const cancel = clock.after(timeLimitMs, stop)
  signal.addEventListener('abort', stop, { once: true })
  void place.sandbox.failed.then(stop)
  try {
    const first = await defaultTarget(bootstrap, place)
    await boot.reach(planBoot(bootstrap.units, first))
    if (first !== multiUser && boot.hasSwitched) await boot.reach(planBoot(bootstrap.units, multiUser))
    signal.throwIfAborted()
    place.sandbox.throwIfFailed()
    return boot.results
  } finally {
    cancel()
    signal.removeEventListener('abort', stop)
    boot.stop()
  }
}

function notRun(unavailable: string): LevelTwoReport {
  return { unavailable, units: [], isComplete: false, unknownPrograms: [], durationMs: 0 }
}

const multiUser = 'multi-user.target'

/** What the generators of the config make of `default.target` (systemd.generator(7)). */
async function defaultTarget({ files }: BootstrapConfig, { sandbox, root, logOf }: UnitPlace): Promise<string> {
  const folders = ['generator', 'generator.early', 'generator.late'].map((name) => `/run/systemd/${name}`)
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true })
  for (const path of files.keys()) {
    if (!path.startsWith('/etc/systemd/system-generators/')) continue
    const options = { unit: 'generators', workingDirectory: '/', env: {}, logFile: logOf('generators') }
    await sandbox.run([path, ...folders], options).ended
  }
  for (const folder of folders.toReversed()) {
    const target = await readlink(join(root, folder, 'default.target')).catch((error: unknown) => {
      if (hasSystemCode(error, 'ENOENT', 'EINVAL')) return undefined
      throw error
    })
    if (target !== undefined) return target.split('/').at(-1) ?? multiUser
  }
  return multiUser
}
