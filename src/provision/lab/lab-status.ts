/** What there is of a lab. */

import { isTaken } from '../../store/presence.ts'
import { type ResourceStatus, sites } from '../provider.ts'
import { stateFolderOf } from './lab-directory.ts'
import { type LabPlan, namespaceName } from './lab-plan.ts'
import type { LabHost } from './lab-programs.ts'
import { markedProcesses } from './marked-processes.ts'
import { processesIn, remainsOfNamespace } from './namespaces.ts'
import { squidMemory } from './squid-memory.ts'

export async function labStatus(
  host: LabHost,
  { plan, directory }: { readonly plan: Pick<LabPlan, 'id'>; readonly directory: string },
): Promise<readonly ResourceStatus[]> {
  const namespaces = await Promise.all(
    sites.map(async (site) => {
      const name = namespaceName(plan.id, site)
      const pids = await processesIn(host, name)
      const isThere = pids !== undefined
      return { kind: 'network namespace', name, isThere, ...(isThere && { detail: `${pids.length} processes` }) }
    }),
  )
  const servers = (await markedProcesses(plan.id)).map(({ name, pid }) => ({
    kind: 'process',
    name,
    isThere: true,
    detail: `process ${pid}`,
  }))
  return [{ kind: 'directory', name: directory, isThere: await isTaken(directory) }, ...namespaces, ...servers]
}

/** What a lab left on this machine, found without knowing anything of it but its name: each a sentence. */
export async function remainsOfLab(id: string): Promise<readonly string[]> {
  const namespaces = await Promise.all(sites.map((site) => remainsOfNamespace(namespaceName(id, site))))
  const servers = (await markedProcesses(id)).map(({ name, pid }) => `process ${pid} (${name})`)
  const state = stateFolderOf(id)
  return [...namespaces.flat(), ...servers, ...(await squidMemory(id)), ...((await isTaken(state)) ? [state] : [])]
}
