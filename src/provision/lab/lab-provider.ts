/** The platform `lab`: the three sites on one Linux machine, in namespaces, or all of them on 127.0.0.1. */

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { runStreamed } from '../../host/run-streamed.ts'
import type { Site } from '../../journal/events.ts'
import {
  type Evidence,
  type Making,
  type NetworkFacts,
  type PlacedFile,
  type PlannedResource,
  type Provider,
  type ProxyFacts,
  type ProxyOptions,
  type ResourceStatus,
  type ServingProcess,
  type SiteCommand,
  type SiteServer,
  sites,
  type UndoRecord,
} from '../provider.ts'
import { labAddresses } from './lab-addresses.ts'
import { makeLabDirectory, stateFolderOf } from './lab-directory.ts'
import { makeLabNetwork } from './lab-network.ts'
import { type LabPlan, labNames, namespaceName, nodeNames } from './lab-plan.ts'
import { type LabHost, must, systemEnv } from './lab-programs.ts'
import { writeLabRecord } from './lab-record.ts'
import { type LabServers, serveInLab } from './lab-servers.ts'
import { labStatus } from './lab-status.ts'
import { type LabUndo, remainsInLab, removeFromLab } from './lab-undo.ts'
import { inNamespace } from './namespaces.ts'
import { type NodePull, type PullOutcome, pullOnNode } from './node-pull.ts'
import { listCounters, readCounters } from './packet-counters.ts'
import type { LabProbe, LabUser } from './probe-lab.ts'
import { type ProxiedRequest, readAccessLog } from './squid-conf.ts'
import { serveSquid } from './squid-proxy.ts'

export interface LabSettings extends LabProbe {
  readonly plan: LabPlan
  /** Of this lab alone: it is removed with it. */
  readonly directory: string
  readonly user: LabUser
}

const loopback = '127.0.0.1'

export class Lab implements Provider {
  readonly platform = 'lab'
  readonly settings: LabSettings
  readonly #host: LabHost

  constructor(host: LabHost, settings: LabSettings) {
    this.#host = host
    this.settings = settings
  }

  get #id(): string {
    return this.settings.plan.id
  }

  /** Of what squid writes. Where it gives up the rights of root it could not reach a directory in somebody's home. */
  get #stateFolder(): string {
    const { user, directory } = this.settings
    return user.uid === 0 ? stateFolderOf(this.#id) : join(directory, 'state')
  }

  get #servers(): LabServers {
    const { directory } = this.settings
    return { lab: this.#id, logFolder: join(directory, 'logs'), command: (argv) => argv }
  }

  async plan(): Promise<readonly PlannedResource[]> {
    const { plan, directory, mode } = this.settings
    const { connectedNetwork, closedNetwork } = labAddresses(plan.subnet)
    const folder = { kind: 'directory', name: directory, description: 'files, logs and pulled images of the lab' }
    if (mode.kind === 'loopback') {
      return [folder, { kind: 'loopback', name: loopback, description: `all sites on this address: ${mode.why}` }]
    }
    const about: Readonly<Record<Site, string>> = {
      connected: `${connectedNetwork}: stands for the Internet`,
      bastion: `on ${connectedNetwork} and ${closedNetwork}, routes nothing`,
      closed: `${closedNetwork}: no way out, every packet that wants out is counted and refused`,
    }
    const namespaces = sites.map((site) => ({
      kind: 'network namespace',
      name: namespaceName(plan.id, site),
      description: about[site],
    }))
    return [folder, ...namespaces]
  }

  async makeNetwork(making: Making): Promise<NetworkFacts> {
    const { plan, directory, mode } = this.settings
    await making.record({ kind: 'lab-directory', lab: plan.id, path: directory } satisfies LabUndo)
    await makeLabDirectory(directory, plan.id)
    await writeLabRecord(directory, { version: 1, id: plan.id, subnet: plan.subnet, mode: mode.kind })
    if (mode.kind === 'namespaces') await makeLabNetwork(this.#host, plan, making)
    return this.facts()
  }

  facts(): NetworkFacts {
    const { plan, mode } = this.settings
    if (mode.kind === 'loopback') {
      const addresses = { connected: [loopback], bastion: [loopback], closed: [loopback] }
      const limits = [`There is no gap: all sites are ${loopback}, because ${mode.why}. ${mode.remedy}`]
      return { addresses, names: {}, limits }
    }
    const { connected, bastionOutside, bastionInside, closed } = labAddresses(plan.subnet)
    const addresses = { connected: [connected], bastion: [bastionInside, bastionOutside], closed: [closed] }
    return { addresses, names: labNames(plan), limits: [] }
  }

  async makeBastion(
    { proxy }: { readonly proxy?: ProxyOptions },
    making: Making,
  ): Promise<{ readonly proxy?: ProxyFacts }> {
    if (proxy === undefined) return {}
    const { addresses } = this.facts()
    const { accessLog } = await serveSquid(this.#host, proxy, {
      ...this.#servers,
      ...making,
      command: (argv) => this.command('bastion', argv),
      squid: this.settings.squid,
      uid: this.settings.user.uid,
      folder: this.#stateFolder,
      addresses: addresses.bastion,
    })
    const [inside = loopback, outside = inside] = addresses.bastion
    const url = (address: string) => `http://${address}:${proxy.port}`
    return { proxy: { urls: { connected: url(outside), bastion: url(inside), closed: url(inside) }, accessLog } }
  }

  /** @throws KnownError USAGE for a path that leads out of the bastion's own folder */
  async placeFiles(files: readonly PlacedFile[], { record }: Making): Promise<readonly string[]> {
    const folder = join(this.settings.directory, 'bastion')
    const placed = []
    for (const { path, content, mode = 0o600 } of files) {
      const target = normalize(join(folder, path))
      if (!target.startsWith(`${folder}/`)) throw new KnownError('USAGE', `"${path}" is no path below a directory`)
      await record({ kind: 'lab-file', lab: this.#id, path: target } satisfies LabUndo)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await writeFile(target, content, { mode })
      await chmod(target, mode)
      placed.push(target)
    }
    return placed
  }

  command(site: Site, argv: readonly string[]): readonly string[] {
    const { mode } = this.settings
    return mode.kind === 'loopback' ? argv : inNamespace(namespaceName(this.#id, site), argv, mode.ip)
  }

  run({ site, argv, env, onOutput, signal }: SiteCommand): Promise<number | string> {
    const all = { ...systemEnv(this.#host.env), ...env }
    return runStreamed(this.command(site, argv), { env: all, onOutput, ...(signal && { signal }) })
  }

  serve(server: SiteServer, making: Making): Promise<ServingProcess> {
    const command = (argv: readonly string[]) => this.command(server.site, argv)
    return serveInLab(this.#host, server, { ...this.#servers, ...making, command })
  }

  async evidence(): Promise<Evidence> {
    const { mode } = this.settings
    if (mode.kind === 'loopback') return { isProven: false, why: `no packets are counted: ${mode.why}` }
    const list = (site: Site) => must(this.#host, this.command(site, ['nft', ...listCounters]))
    const [closed, bastion] = await Promise.all([list('closed'), list('bastion')])
    return readCounters(closed, bastion)
  }

  /** Which hosts were asked for through the proxy; empty where there is none. */
  async proxiedRequests(): Promise<readonly ProxiedRequest[]> {
    try {
      return readAccessLog(await readFile(join(this.#stateFolder, 'squid', 'access.log'), 'utf8'))
    } catch (error) {
      if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return []
      throw error
    }
  }

  nodes(): readonly string[] {
    return nodeNames(this.settings.plan)
  }

  /** Pulls an image as a node of the closed site would. */
  pullOnNode(pull: NodePull): Promise<PullOutcome> {
    const folder = join(this.settings.directory, 'nodes')
    return pullOnNode(this.#host, pull, { folder, command: (argv) => this.command('closed', argv) })
  }

  status(): Promise<readonly ResourceStatus[]> {
    return labStatus(this.#host, this.settings)
  }

  remove(undo: UndoRecord): Promise<'removed' | 'gone'> {
    return removeFromLab(this.#host, undo)
  }

  remains(undo: UndoRecord): Promise<readonly string[]> {
    return remainsInLab(undo)
  }
}
