/** The built-in workflow `disconnected`: the ten stages of one site, in their order. */
import { parseDuration } from '../../config/duration.ts'
import type { SiteConfig } from '../../config/site-configuration.ts'
import { type StageName, stageNames, whyNotInVariant } from '../../config/site-stages.ts'
import type { Phase, StepOutline } from '../../journal/events.ts'
import type { StepDefinition, StepPolicy } from '../../workflow/step.ts'
import {
  type OutputReader,
  placeStep,
  type TeardownPolicy,
  type Workflow,
  type WorkflowStep,
} from '../../workflow/workflow.ts'
import { CredentialsMade, HostMade, MirrorMade } from './bastion-outputs.ts'
import { credentialsStep, hostStep, mirrorRegistryStep, toolsStep } from './bastion-steps.ts'
import { NetworkMade, UpstreamMade } from './infrastructure-outputs.ts'
import { networkStep, upstreamStep } from './infrastructure-steps.ts'
import { NodesUp, Verified } from './install-outputs.ts'
import { evidenceStep, nodesStep, packetsStep, verifyEgressStep, verifyMirrorStep } from './install-steps.ts'
import { labUndo } from './lab-of-run.ts'
import { Collected, Loaded } from './mirror-outputs.ts'
import { arrivalStep, collectStep, loadStep } from './mirror-steps.ts'
import { BootstrapMade, Rehearsed } from './prepare-outputs.ts'
import { installConfigStep, rehearseStep, sampleIgnitionStep } from './prepare-steps.ts'
import type { StageParts } from './stage-parts.ts'

/** The ids of the steps, where another one reads their output. */
const ids = {
  network: '01-infrastructure/network',
  upstream: '01-infrastructure/upstream',
  host: '02-bastion/host',
  credentials: '03-credentials/mirror',
  tools: '04-tools/release',
  mirror: '05-mirror-registry/serve',
  collect: '06-mirror-images/collect',
  arrive: '06-mirror-images/arrive',
  load: '06-mirror-images/load',
  config: '07-prepare/install-config',
  ignition: '07-prepare/ignition',
  rehearse: '07-prepare/rehearse',
  nodes: '08-install/nodes',
  everything: '09-verify/mirror',
  egress: '09-verify/egress',
  packets: '09-verify/packets',
  evidence: '10-clean-up/evidence',
} as const

/** Steps of a site on the platform lab. */
export function disconnectedWorkflow(parts: StageParts): Workflow {
  const { site } = parts
  const builder = new StageBuilder(parts)
  return {
    name: 'disconnected',
    steps: builder.steps(),
    observers: [],
    undo: labUndo(parts),
    teardown: teardownOf(site),
    leases: [`site ${site.name}.${site.baseDomain}`],
  }
}

/** Whoever is asked is asked by the command line; here nobody is. */
function teardownOf({ teardown }: SiteConfig): TeardownPolicy {
  return teardown === 'ask' ? 'never' : teardown
}

class StageBuilder {
  readonly #parts: StageParts

  constructor(parts: StageParts) {
    this.#parts = parts
  }

  get #site(): SiteConfig {
    return this.#parts.site
  }

  get #hasMirror(): boolean {
    return this.#site.mirror !== undefined && this.#site.variant !== 'proxy-only'
  }

  /** Without the path of its repositories. */
  get #registry(): string {
    return this.#site.mirror?.registry.split('/')[0] ?? ''
  }

  steps(): readonly WorkflowStep[] {
    return [...this.#outside(), ...this.#bastion(), ...this.#images(), ...this.#cluster(), ...this.#proof()]
  }

  #outside(): readonly WorkflowStep[] {
    const { lab } = this.#site.platform
    const { architecture } = this.#site.release
    return [
      this.#place(networkStep(this.#parts), ids.network, () => ({ platform: 'lab', nodes: lab?.nodes ?? 0 })),
      this.#place(upstreamStep(this.#parts), ids.upstream, (of) => ({
        network: of(ids.network, NetworkMade),
        architecture,
      })),
    ]
  }

  #bastion(): readonly WorkflowStep[] {
    const { variant, proxy } = this.#site
    const needsProxy = variant === 'proxy-only' || proxy !== undefined
    const registry = this.#registry
    const path = this.#site.mirror?.registry.slice(registry.length + 1) ?? ''
    return [
      this.#place(hostStep(this.#parts), ids.host, (of) => ({ network: of(ids.network, NetworkMade), needsProxy })),
      this.#place(credentialsStep(this.#parts), ids.credentials, (of) => ({
        network: of(ids.network, NetworkMade),
        registry,
      })),
      this.#place(toolsStep(this.#parts), ids.tools, (of) => ({ upstream: of(ids.upstream, UpstreamMade) })),
      this.#place(mirrorRegistryStep(this.#parts), ids.mirror, (of) => ({
        network: of(ids.network, NetworkMade),
        credentials: of(ids.credentials, CredentialsMade),
        registry,
        path,
      })),
    ]
  }

  #images(): readonly WorkflowStep[] {
    return [
      this.#place(collectStep(this.#parts), ids.collect, (of) => {
        const upstream = of(ids.upstream, UpstreamMade)
        return { upstream, imageSet: upstream.imageSet }
      }),
      this.#place(arrivalStep(this.#parts), ids.arrive, (of) => ({ collected: of(ids.collect, Collected) })),
      this.#place(loadStep(this.#parts), ids.load, (of) => ({
        collected: of(ids.arrive, Collected),
        mirror: of(ids.mirror, MirrorMade),
        credentials: of(ids.credentials, CredentialsMade),
        upstream: of(ids.upstream, UpstreamMade),
      })),
    ]
  }

  #cluster(): readonly WorkflowStep[] {
    const prepare = (of: OutputReader) => ({
      upstream: of(ids.upstream, UpstreamMade),
      host: of(ids.host, HostMade),
      site: JSON.parse(JSON.stringify(this.#site)),
      ...(this.#hasMirror && { side: this.#mirrorSide(of) }),
    })
    return [
      this.#place(installConfigStep(this.#parts), ids.config, prepare),
      this.#place(sampleIgnitionStep(this.#parts), ids.ignition, prepare),
      this.#place(rehearseStep(this.#parts), ids.rehearse, (of) => ({
        bootstrap: of(ids.ignition, BootstrapMade),
        network: of(ids.network, NetworkMade),
        ...(this.#hasMirror && { registry: this.#registry }),
      })),
      this.#place(nodesStep(this.#parts), ids.nodes, (of) => this.#nodeSide(of)),
    ]
  }

  #proof(): readonly WorkflowStep[] {
    const verified = (of: OutputReader) =>
      this.#hasMirror ? [of(ids.everything, Verified), of(ids.egress, Verified)] : []
    return [
      this.#place(verifyMirrorStep(this.#parts), ids.everything, (of) => this.#nodeSide(of), 'test'),
      this.#place(verifyEgressStep(this.#parts), ids.egress, (of) => this.#nodeSide(of), 'test'),
      this.#place(
        packetsStep(this.#parts),
        ids.packets,
        (of) => ({
          nodes: of(ids.nodes, NodesUp),
          rehearsed: this.#hasMirror ? of(ids.rehearse, Rehearsed) : null,
          verified: verified(of),
        }),
        'test',
      ),
      this.#place(evidenceStep(this.#parts), ids.evidence, () => ({}), 'post'),
    ]
  }

  #mirrorSide(of: OutputReader) {
    return {
      mirror: of(ids.mirror, MirrorMade),
      credentials: of(ids.credentials, CredentialsMade),
      loaded: of(ids.load, Loaded),
    }
  }

  #nodeSide(of: OutputReader) {
    const { lab } = this.#site.platform
    return {
      upstream: of(ids.upstream, UpstreamMade),
      host: of(ids.host, HostMade),
      nodes: lab?.nodes ?? 0,
      ...(this.#hasMirror && this.#mirrorSide(of)),
    }
  }

  #place<Input, Output>(
    definition: StepDefinition<Input, Output>,
    id: string,
    input: (of: OutputReader) => Input,
    phase: Phase = 'pre',
  ): WorkflowStep {
    const stage = stageOf(id)
    const [group = ''] = id.split('/')
    const step = placeStep(definition, { id, phase, groups: [group], policy: this.#policyOf(stage), input })
    const why = this.#whyNot(stage, step.outline)
    return why === undefined ? step : { ...step, skipWhy: why }
  }

  #policyOf(stage: StageName): Partial<StepPolicy> {
    const { timeout, retries } = this.#site.stages[stage] ?? {}
    const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout)
    return {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(retries !== undefined && { retry: { attempts: retries + 1, firstDelayMs: 10_000 } }),
    }
  }

  #whyNot(stage: StageName, { id }: StepOutline): string | undefined {
    const { variant, stages } = this.#site
    const asked = stages[stage]?.skip
    if (asked !== undefined) return `sallyport.yaml: ${asked}`
    // Of a lab they are what everything else stands on.
    const isGround = stage === 'infrastructure' || stage === 'clean-up' || id === ids.host || id === ids.credentials
    if (!isGround || (id === ids.credentials && !this.#hasMirror)) {
      const why = whyNotInVariant(id === ids.credentials ? 'mirror-registry' : stage, {
        variant,
        hasMirror: this.#hasMirror,
      })
      if (why !== undefined) return why
    }
    if (this.#hasMirror || !needsMirror.has(id)) return undefined
    return 'there is no mirror to prove'
  }
}

const needsMirror = new Set<string>([ids.rehearse, ids.everything, ids.egress])

function stageOf(id: string): StageName {
  const number = Number(id.slice(0, 2))
  return stageNames[number - 1] ?? 'infrastructure'
}
