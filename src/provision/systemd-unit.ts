/** Servers as units of systemd: systemd.unit(5), systemd.service(5). */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { attempt, findProgram, type LabHost, must } from './lab/lab-programs.ts'
import type { Making, SiteServer } from './provider.ts'
import { renderUnit } from './unit-file.ts'

export interface Systemd {
  readonly systemctl: string
  /** Where units of the administrator are. */
  readonly units: string
}

/** undefined where it does not run: sd_booted(3). */
export async function findSystemd(host: LabHost): Promise<Systemd | undefined> {
  try {
    await stat('/run/systemd/system')
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return undefined
    throw error
  }
  const systemctl = await findProgram(host, 'systemctl')
  return systemctl === undefined ? undefined : { systemctl, units: '/etc/systemd/system' }
}

export function unitName(id: string, server: string): string {
  return `sallyport-${id}-${server}.service`
}

export interface UnitServer extends SiteServer {
  readonly unit: string
}

interface UnitHost {
  readonly host: LabHost
  readonly systemd: Systemd
}

const readyWithinMs = 30_000
const pollMs = 50

/** @throws KnownError LAB_FAILED where systemd refuses it, or where it does not listen in time */
export async function serveAsUnit({ host, systemd }: UnitHost, server: UnitServer, making: Making): Promise<void> {
  const { unit, ports } = server
  await making.record({ kind: 'systemd-unit', name: unit })
  const path = join(systemd.units, unit)
  const text = renderUnit(server)
  const before = await readFile(path, 'utf8').catch(() => undefined)
  await mkdir(dirname(path), { recursive: true })
  if (before !== text) await writeFile(path, text, { mode: 0o644 })
  await must(host, [systemd.systemctl, 'daemon-reload'])
  await must(host, [systemd.systemctl, 'enable', unit])
  await must(host, [systemd.systemctl, before === text ? 'start' : 'restart', unit])
  const deadline = host.clock.now() + (server.readyWithinMs ?? readyWithinMs)
  while (!(await Promise.all(ports.map(isOpen))).every(Boolean)) {
    if (host.clock.now() >= deadline) {
      throw new KnownError('LAB_FAILED', `${unit} does not listen on port ${ports.join(', ')}`, {
        hint: `journalctl -u ${unit} says why.`,
      })
    }
    await host.clock.sleep(pollMs, making.signal)
  }
}

export async function isUnitActive(host: LabHost, { systemctl }: Systemd, unit: string): Promise<boolean> {
  return (await attempt(host, [systemctl, 'is-active', '--quiet', unit])).status === 0
}

/** Safe to repeat. @throws KnownError UNDO_INVALID for the name of a unit that Sallyport did not make */
export async function removeUnit(host: LabHost, unit: string): Promise<void> {
  if (!/^sallyport-[a-z0-9-]+\.service$/.test(unit)) {
    throw new KnownError('UNDO_INVALID', `"${unit}" is not the name of a unit of Sallyport`)
  }
  const systemd = await findSystemd(host)
  if (systemd === undefined) return
  await attempt(host, [systemd.systemctl, 'disable', '--now', unit])
  await rm(join(systemd.units, unit), { force: true })
  await must(host, [systemd.systemctl, 'daemon-reload'])
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const end = (isReached: boolean) => {
      socket.destroy()
      resolve(isReached)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}
