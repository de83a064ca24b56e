/** The machine that Sallyport runs on, as the bastion of a real site: nothing is made of it but files, and servers on it. */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import type { LabHost } from './lab/lab-programs.ts'
import { serveInLab } from './lab/lab-servers.ts'
import { markedProcesses } from './lab/marked-processes.ts'
import type { LabUser } from './lab/probe-lab.ts'
import type { Making, PlacedFile, Provider, SiteServer } from './provider.ts'
import { findSystemd, isUnitActive, type Systemd, serveAsUnit, unitName } from './systemd-unit.ts'

/** What stages ask of the bastion, whatever it is. */
export interface Machine extends Pick<Provider, 'placeFiles'> {
  /** Starts a server that outlives this process, and waits until it listens. */
  serve(server: SiteServer, making: Making): Promise<unknown>
  isServing(name: string): Promise<boolean>
}

export interface OwnMachineSettings {
  /** Of the site, whatever run it is: letters, digits, `-`. */
  readonly id: string
  /** Directory of the run; what is placed lies below it, and is recorded by its path in it. */
  readonly runDirectory: string
  readonly user: LabUser
}

export class OwnMachine implements Machine {
  readonly #host: LabHost
  readonly #settings: OwnMachineSettings

  constructor(host: LabHost, settings: OwnMachineSettings) {
    this.#host = host
    this.#settings = settings
  }

  /** @throws KnownError USAGE for a path that leads out of the folder of the bastion */
  async placeFiles(files: readonly PlacedFile[], { record }: Making): Promise<readonly string[]> {
    const folder = join(this.#settings.runDirectory, 'work', 'bastion')
    const placed = []
    for (const { path, content, mode = 0o600 } of files) {
      const target = normalize(join(folder, path))
      if (!target.startsWith(`${folder}/`)) throw new KnownError('USAGE', `"${path}" is no path below a directory`)
      await record({ kind: 'run-path', path: target.slice(this.#settings.runDirectory.length + 1) })
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await writeFile(target, content, { mode })
      await chmod(target, mode)
      placed.push(target)
    }
    return placed
  }

  /** As a unit of systemd where root has one: it comes back with the machine. Elsewhere as a process of its own. */
  async serve(server: SiteServer, making: Making): Promise<void> {
    const systemd = await this.#systemd()
    const { id, runDirectory } = this.#settings
    if (systemd)
      return serveAsUnit({ host: this.#host, systemd }, { ...server, unit: unitName(id, server.name) }, making)
    const logFolder = join(runDirectory, 'servers')
    await serveInLab(this.#host, server, { lab: id, logFolder, command: (argv) => argv, ...making })
  }

  async isServing(name: string): Promise<boolean> {
    const { id } = this.#settings
    const systemd = await this.#systemd()
    if (systemd) return isUnitActive(this.#host, systemd, unitName(id, name))
    return (await markedProcesses(id, name)).length > 0
  }

  async #systemd(): Promise<Systemd | undefined> {
    return this.#settings.user.uid === 0 ? findSystemd(this.#host) : undefined
  }
}
