/** Stages 08 to 10 of a lab: nodes that pull, the proof that nothing left, and what is kept of it. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import { namespaceName } from '../../provision/lab/lab-plan.ts'
import type { Lab } from '../../provision/lab/lab-provider.ts'
import type { CountedEvidence } from '../../provision/provider.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { HostMade } from './bastion-outputs.ts'
import { NodesUp, PacketsCounted } from './install-outputs.ts'
import { pathAt } from './places.ts'
import { MirrorSide } from './prepare-steps.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { proxyOf } from './sample-ignition.ts'
import { labOf, runSallyport, type StageParts } from './stage-parts.ts'

/** What a node knows of the world: through a mirror, or through a proxy. */
const NodeSide = z.strictObject({
  release: ReleaseKnown,
  side: MirrorSide.optional(),
  host: HostMade,
  nodes: z.number(),
})
type NodeSide = z.infer<typeof NodeSide>

const pullsAtATime = 4

/** How a program on the closed side reads images as a node does. */
interface NodeAccess {
  readonly registriesConf: string
  readonly caFile: string
  readonly authFile?: string
}

function accessOf(parts: StageParts, context: StepContext, { release: { outside }, side }: NodeSide): NodeAccess {
  const at = (place = '') => pathAt(parts, context, place)
  if (side === undefined) return { registriesConf: at(outside?.registriesConf), caFile: at(outside?.ca) }
  const { loaded, mirror, credentials } = side
  return { registriesConf: at(loaded.registriesConf), caFile: at(mirror.ca), authFile: credentials.authFile }
}

/** Stage 08: every image of the release is pulled by a node, through the registries.conf that the cluster will have. */
export function nodesStep(parts: StageParts) {
  return defineStep({
    title: 'nodes on the closed side pull the release',
    version: 1,
    where: 'closed',
    input: NodeSide,
    output: NodesUp,
    policy: { timeoutMs: 2 * 60 * 60_000, retry: { attempts: 3, firstDelayMs: 10_000 } },
    async apply(side, context) {
      const lab = await labOf(parts, context)
      const env = await proxyEnv(side, context)
      const access = accessOf(parts, context, side)
      const auth = access.authFile === undefined ? [] : ['--authfile', access.authFile]
      const from = ['--registries-conf', access.registriesConf, '--ca', access.caFile, ...auth]
      const { release } = side.release
      const words = ['release', 'info', release, ...from]
      const answer = await runSallyport(parts, context, { where: 'closed', words, env })
      const images = [release, ...Components.parse(answer).components.map((component) => component.reference)]
      await pullAll(lab, { images, access, context, env })
      return { nodes: [...lab.nodes()], images: images.length }
    },
  })
}

const Components = z.object({ components: z.array(z.object({ reference: z.string() })) })

interface PullWork {
  readonly images: readonly string[]
  readonly access: NodeAccess
  readonly context: StepContext
  readonly env: Readonly<Record<string, string>>
}

async function pullAll(lab: Lab, { images, access, context, env }: PullWork): Promise<void> {
  const nodes = lab.nodes()
  let done = 0
  await mapConcurrently(images, pullsAtATime, async (image, index) => {
    const node = `${nodes[index % nodes.length] ?? 'node'}`
    const outcome = await lab.pullOnNode({
      // Each with a folder of its own: two that run at a time never meet.
      node: `${node}/${index}`,
      image,
      ...access,
      env,
      signal: context.signal,
    })
    if (!outcome.isPulled) {
      throw new KnownError('STEP_TRANSIENT', `${node} cannot pull ${image}: ${outcome.words}`, {
        details: { node, image },
      })
    }
    done += 1
    context.progress({ note: `${node} pulled ${image}`, done, total: images.length, unit: 'images' })
  })
  context.print(`${nodes.length} nodes pulled ${images.length} images\n`)
}

/** Of a node that has no mirror. */
async function proxyEnv({ side, host }: NodeSide, context: StepContext): Promise<Readonly<Record<string, string>>> {
  const proxy = side === undefined ? await proxyOf(host, context) : undefined
  return proxy?.httpsProxy === undefined ? {} : { HTTPS_PROXY: proxy.httpsProxy, HTTP_PROXY: proxy.httpsProxy }
}

/** Stage 09: what the packet counters of the closed side say of all that was done there. */
export function packetsStep(parts: StageParts) {
  return defineStep({
    title: 'no packet tried to leave the closed side',
    version: 1,
    where: 'closed',
    // Counters move on: what was proven by one session is looked at again by the next.
    input: z.strictObject({ nodes: NodesUp.optional(), rehearsed: z.json(), verified: z.json() }),
    output: PacketsCounted,
    policy: { timeoutMs: 60_000 },
    async apply(_, context) {
      const lab = await labOf(parts, context)
      const evidence = await lab.evidence()
      if (!evidence.isProven) {
        context.print(`not proven: ${evidence.why}\n`)
        return { isProven: false, left: 0, inside: 0, forwarded: 0, why: evidence.why }
      }
      const { leftPackets: left, sitePackets: inside, forwardedPackets: forwarded, tried, asked } = evidence
      for (const { address, protocol, port, packets } of tried) {
        context.print(`${packets} packets were for ${address}, ${protocol}${port === undefined ? '' : ` ${port}`}\n`)
      }
      context.print(
        `${inside} packets stayed inside, ${left} tried to leave, ${forwarded} the bastion was to pass on\n`,
      )
      for (const { name } of asked) context.print(`the name ${name} was asked for\n`)
      if (left + forwarded > 0)
        throw leaving(evidence, { run: context.run, namespace: namespaceName(lab.settings.plan.id, 'closed') })
      return { isProven: true, left, inside, forwarded }
    },
    verify: async (_, output) => {
      if (output.isProven && output.inside === 0) return [nothingCounted]
      if (output.isProven) return []
      const summary = `That nothing left is not proven here: ${output.why ?? ''}`
      return [
        {
          id: 'lab.gap-not-proven',
          severity: 'warning',
          summary,
          remedy: 'Run it as root on a machine with network namespaces.',
        },
      ]
    },
  })
}

const nothingCounted: Finding = {
  id: 'lab.nothing-counted',
  severity: 'warning',
  summary: 'Nothing was done on the closed side since its network was made: that nothing left proves nothing',
  remedy: 'Run its steps again: sallyport resume --from 08-install/nodes.',
}

function leaving(
  { leftPackets, forwardedPackets, tried, asked }: CountedEvidence,
  { run, namespace }: { readonly run: string; readonly namespace: string },
): KnownError {
  const packets = leftPackets + forwardedPackets
  const passed = forwardedPackets === 0 ? [] : [`${forwardedPackets} packets were for the bastion to pass on`]
  const places = tried.map(
    ({ address, protocol, port }) => `${address} ${protocol}${port === undefined ? '' : ` ${port}`}`,
  )
  const names = asked.length === 0 ? '' : `; names that were asked for: ${asked.map(({ name }) => name).join(', ')}`
  const destinations = places.length === 0 ? '' : `, for ${places.join(', ')}`
  const left = leftPackets === 0 ? [] : [`${leftPackets} packets tried to leave the closed side${destinations}${names}`]
  const message = [...left, ...passed].join('; ')
  return new KnownError('STEP_FAILED', message, {
    details: { packets },
    hint: `Find out who asks for these addresses: ip netns exec ${namespace} ss -tup, and the logs of the steps before. What was counted stays: for a proof ip netns delete ${namespace}, and sallyport resume ${run} --from 08-install/nodes, which makes it anew.`,
  })
}

/** Stage 10, before anything goes: what people will want to look at. */
export function evidenceStep(parts: StageParts) {
  return defineStep({
    title: 'what the packets and the proxy say, kept',
    version: 1,
    input: z.strictObject({}),
    output: z.strictObject({ file: z.string() }),
    policy: { timeoutMs: 5 * 60_000, ignoresFailure: true },
    async apply(_, context) {
      const lab = await labOf(parts, context)
      const file = join(context.directories.artifacts, 'evidence.json')
      const packets = await lab.evidence().catch((error: Error) => ({ isProven: false, why: error.message }))
      const proxied = await lab.proxiedRequests()
      const status = await lab.status()
      const text = `${JSON.stringify({ packets, proxied, status }, undefined, 2)}\n`
      await writeFile(file, text)
      context.print(await readFile(file, 'utf8'))
      return { file }
    },
  })
}
