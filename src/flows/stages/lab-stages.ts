/** The ten stages of the platform lab: all of them are real. */
import type { OutputReader, WorkflowStep } from '../../workflow/workflow.ts'
import { CredentialsMade, HostMade } from './bastion-outputs.ts'
import { hostStep } from './bastion-steps.ts'
import { accountStep } from './credential-steps.ts'
import { NetworkMade } from './infrastructure-outputs.ts'
import { networkStep, upstreamStep } from './infrastructure-steps.ts'
import { NodesUp, Verified } from './install-outputs.ts'
import { evidenceStep, nodesStep, packetsStep } from './install-steps.ts'
import { contentPlace } from './places.ts'
import { BootstrapMade, ConfigRendered, Rehearsed } from './prepare-outputs.ts'
import { installConfigStep, rehearseStep } from './prepare-steps.ts'
import { serveMirrorStep } from './registry-steps.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { toolsStep } from './release-steps.ts'
import { sampleIgnitionStep } from './sample-ignition.ts'
import { imageSteps, mirrorSideOf, prepareInput, type SharedStages, sharedIds, verifySteps } from './shared-stages.ts'
import { type StageParts, splitHost } from './stage-parts.ts'
import { StagePlacer } from './stage-placer.ts'

const network = '01-infrastructure/network'
const host = '02-bastion/host'
const nodes = '08-install/nodes'
const ids = {
  release: '01-infrastructure/upstream',
  credentials: '03-credentials/mirror',
  mirror: '05-mirror-registry/serve',
} as const

export function labStages(parts: StageParts): readonly WorkflowStep[] {
  const placer = new StagePlacer(parts.site)
  const shared = { parts, placer, ids }
  return [
    ...groundSteps(shared),
    ...mirrorSteps(shared),
    ...imageSteps(shared),
    ...clusterSteps(shared),
    ...verifySteps(shared),
    packetsOf(shared),
    placer.place(evidenceStep(parts), { id: '10-clean-up/evidence', input: () => ({}), belongsTo: 'always' }),
  ]
}

/** Of a lab they are what everything else stands on, also where a variant has no cluster. */
function groundSteps({ parts, placer }: SharedStages): readonly WorkflowStep[] {
  const { proxy, platform, release } = parts.site
  const needsProxy = !placer.hasMirror || proxy !== undefined
  const size = { platform: 'lab', nodes: platform.lab?.nodes ?? 0 }
  return [
    placer.place(networkStep(parts), { id: network, input: () => size, belongsTo: 'always' }),
    placer.place(upstreamStep(parts), {
      id: ids.release,
      input: (of) => ({ network: of(network, NetworkMade), architecture: release.architecture }),
      belongsTo: 'always',
    }),
    placer.place(hostStep(parts), {
      id: host,
      input: (of) => ({ network: of(network, NetworkMade), needsProxy }),
      belongsTo: 'always',
    }),
  ]
}

function mirrorSteps({ parts, placer }: SharedStages): readonly WorkflowStep[] {
  const { mirror } = parts.site
  const [registry = '', ...path] = mirror?.registry.split('/') ?? []
  const root = contentPlace(parts, 'mirror')
  return [
    placer.place(accountStep(parts), {
      id: ids.credentials,
      input: (of) => ({ network: of(network, NetworkMade), registry, root }),
      belongsTo: 'mirror-registry',
    }),
    placer.place(toolsStep(parts), {
      id: '04-tools/release',
      input: (of) => ({ release: of(ids.release, ReleaseKnown), directory: 'run:lab/bastion/bin' }),
    }),
    placer.place(serveMirrorStep(parts), {
      id: ids.mirror,
      input: (of) => ({
        network: of(network, NetworkMade),
        credentials: of(ids.credentials, CredentialsMade),
        registry,
        path: path.join('/'),
        root,
      }),
    }),
  ]
}

function clusterSteps(shared: SharedStages): readonly WorkflowStep[] {
  const { parts, placer } = shared
  const prepare = prepareInput(shared)
  const skipWhy = placer.hasMirror ? undefined : 'there is no mirror to rehearse with'
  return [
    placer.place(installConfigStep(parts), { id: sharedIds.config, input: prepare }),
    placer.place(sampleIgnitionStep(parts), {
      id: sharedIds.ignition,
      input: (of) => ({ ...prepare(of), host: of(host, HostMade), config: of(sharedIds.config, ConfigRendered) }),
    }),
    placer.place(rehearseStep(parts), {
      id: sharedIds.rehearse,
      input: (of) => ({
        bootstrap: of(sharedIds.ignition, BootstrapMade),
        via: labNames(parts, of(network, NetworkMade)),
      }),
      skipWhy,
    }),
    placer.place(nodesStep(parts), {
      id: nodes,
      input: (of) => ({
        release: of(ids.release, ReleaseKnown),
        host: of(host, HostMade),
        nodes: parts.site.platform.lab?.nodes ?? 0,
        ...(placer.hasMirror && { side: mirrorSideOf(of, ids) }),
      }),
    }),
  ]
}

/** Names that the DNS of a real site has. */
function labNames({ site }: StageParts, { addresses }: NetworkMade): string[] {
  const [inside = ''] = addresses.bastion
  const [node = ''] = addresses.closed
  const domain = `${site.name}.${site.baseDomain}`
  const [registry] = site.mirror?.registry.split('/') ?? []
  const mirror = registry === undefined ? [] : [`${splitHost(registry).host}=${inside}`]
  return [`api.${domain}=${node}`, `api-int.${domain}=${node}`, ...mirror]
}

/** Behind all that is done on the closed side. */
function packetsOf({ parts, placer }: SharedStages): WorkflowStep {
  const isCluster = parts.site.variant !== 'registry-only'
  const verified = (of: OutputReader) => {
    return placer.hasMirror ? [of(sharedIds.everything, Verified), of(sharedIds.egress, Verified)] : []
  }
  const step = placer.place(packetsStep(parts), {
    id: '09-verify/packets',
    input: (of) => ({
      ...(isCluster && { nodes: of(nodes, NodesUp) }),
      rehearsed: placer.hasMirror && isCluster ? of(sharedIds.rehearse, Rehearsed) : null,
      verified: verified(of),
    }),
  })
  // Whatever ran again, gave what it may: there are packets that nobody has looked at.
  return { ...step, readsEverything: true }
}
