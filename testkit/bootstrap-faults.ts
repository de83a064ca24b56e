/**
 * What can be wrong with a bootstrap, one fault at a time: how it comes about, what a rehearsal must call it, and where
 * the scripts would stop.
 *
 *     for (const fault of bootstrapFaults) {
 *       const { path, via, clock } = await startFaultyBootstrap(t, fault)
 *       … the rehearsal of `path` names `fault.expect`
 *     }
 *
 * The names of the findings, with what they mean, are in `bootstrap-findings.ts`; bootstraps that are in order, in
 * `bootstrap-faults/sound-bootstraps.ts`.
 */
import { writeFile } from 'node:fs/promises'
import type { Clock } from '../src/host/clock.ts'
import type { BootstrapFault, FaultyBootstrap } from './bootstrap-faults/bootstrap-fault.ts'
import { configFaults } from './bootstrap-faults/config-faults.ts'
import { mirrorFaults } from './bootstrap-faults/mirror-faults.ts'
import { resolutionFaults } from './bootstrap-faults/resolution-faults.ts'
import type { SoundBootstrap } from './bootstrap-faults/sound-bootstraps.ts'
import { trustFaults } from './bootstrap-faults/trust-faults.ts'
import { type BootstrapSite, startBootstrapSite } from './bootstrap-site.ts'
import { IgnitionDocument } from './ignition-document.ts'
import type { Cleanup } from './temp-dir.ts'

export const bootstrapFaults: readonly BootstrapFault[] = [
  ...trustFaults,
  ...mirrorFaults,
  ...resolutionFaults,
  ...configFaults,
]

/** A site with a fault, as a rehearsal meets it. */
export interface FaultySite {
  readonly site: BootstrapSite
  /** The bootstrap.ign with the fault in it: text, and where it is. */
  readonly ignition: string
  readonly path: string
  /** Address by host name. */
  readonly via: Readonly<Record<string, string>>
  /** What the machine that rehearses takes for now. */
  readonly clock: Clock
}

/** Starts a site and breaks it in one way, or arranges it in a sound one. The site ends with `t`. */
export async function startFaultyBootstrap(t: Cleanup, fault: BootstrapFault | SoundBootstrap): Promise<FaultySite> {
  const site = await startBootstrapSite(t, fault.at)
  const document = new IgnitionDocument(site.ignition)
  const bootstrap: FaultyBootstrap = { t, site, document, via: new Map(Object.entries(site.via)), clockOffsetMs: 0 }
  await fault.inject?.(bootstrap)
  const ignition = document.toString()
  await writeFile(site.path, ignition)
  const { via, clockOffsetMs } = bootstrap
  return { site, ignition, path: site.path, via: Object.fromEntries(via), clock: ahead(site.clock, clockOffsetMs) }
}

function ahead(clock: Clock, milliseconds: number): Clock {
  return {
    now: () => clock.now() + milliseconds,
    sleep: (time, signal) => clock.sleep(time, signal),
    after: (time, action) => clock.after(time, action),
  }
}
