/** The ten stages of a real site: what differs between platforms is the table below. */
import { type PlatformName, platformOf } from '../../config/site-platforms.ts'
import type { Finding } from '../../errors/finding.ts'
import type { WorkflowStep } from '../../workflow/workflow.ts'
import { CredentialsMade } from './bastion-outputs.ts'
import { accountStep, givenCredentialsStep } from './credential-steps.ts'
import { handFinding } from './hand-steps.ts'
import { ignitionStep, installerStep } from './ignition-steps.ts'
import { contentPlace } from './places.ts'
import { BootstrapMade, ConfigRendered, InstallerTaken } from './prepare-outputs.ts'
import { installConfigStep, rehearseStep } from './prepare-steps.ts'
import { givenMirrorStep, serveMirrorStep } from './registry-steps.ts'
import { ReleaseKnown } from './release-outputs.ts'
import { releaseStep, toolsStep } from './release-steps.ts'
import { imageSteps, prepareInput, type SharedStages, sharedIds, verifySteps } from './shared-stages.ts'
import type { StageParts } from './stage-parts.ts'
import { StagePlacer } from './stage-placer.ts'

export interface PlacedStages {
  readonly steps: readonly WorkflowStep[]
  /** What is known to stop a run of them. */
  readonly findings: readonly Finding[]
}

interface PlatformStages {
  /** Who has the network and the machines: the owner of the site, or a cloud that Sallyport has no provider for yet. */
  readonly ground: 'yours' | 'by-hand'
  /** What makes the network of the site by hand. */
  readonly network: string
  /** How the machines come up from what stage 07 has made; ASSETS is its directory. */
  readonly install: string
}

const boot =
  'Boot the machines with the files of ASSETS: bootstrap.ign, master.ign, worker.ign; openshift-install wait-for bootstrap-complete --dir ASSETS, take the bootstrap host out of the load balancer, and openshift-install wait-for install-complete --dir ASSETS.'
const create = 'openshift-install create cluster --dir ASSETS makes the machines, and waits until the cluster is up.'
const yours = 'machines, network, load balancer and DNS are yours'

const platforms: Readonly<Record<Exclude<PlatformName, 'lab'>, PlatformStages>> = {
  aws: {
    ground: 'by-hand',
    network:
      'Make a VPC with private subnets, without a gateway to the Internet, with endpoints for ec2, s3, sts and elasticloadbalancing, and write its subnets into sallyport.yaml (platform.aws.subnets).',
    install: create,
  },
  vsphere: {
    ground: 'by-hand',
    network: 'Make a port group without a way out, with DHCP and DNS, and name it in sallyport.yaml.',
    install: create,
  },
  nutanix: {
    ground: 'by-hand',
    network: 'Make a subnet without a way out, with DHCP and DNS, and name it in sallyport.yaml (subnetUUIDs).',
    install: create,
  },
  baremetal: { ground: 'yours', network: '', install: boot },
  none: { ground: 'yours', network: '', install: boot },
}

const ids = { release: '03-credentials/release', credentials: '03-credentials/mirror' } as const

export function siteStages(parts: StageParts): PlacedStages {
  const { site } = parts
  const placer = new StagePlacer(site)
  const isEmbedded = site.mirror?.service === 'embedded'
  const mirror = isEmbedded ? '05-mirror-registry/serve' : '05-mirror-registry/check'
  const shared = { parts, placer, ids: { ...ids, mirror } }
  const name = platformOf(site)
  const platform = platforms[name === 'lab' ? 'none' : name]
  const steps = [
    ...groundSteps(shared, platform),
    ...releaseSteps(shared),
    isEmbedded ? serveSteps(shared) : givenSteps(shared),
    ...imageSteps(shared),
    ...prepareSteps(shared),
    installOf(shared, platform),
    ...verifySteps(shared),
    clusterOf(shared),
  ].flat()
  // Of one stage some belong to the release and some to the mirror: they run stage by stage.
  steps.sort((one, other) => Number(one.outline.id.slice(0, 2)) - Number(other.outline.id.slice(0, 2)))
  return { steps, findings: placer.handWork.map(handFinding) }
}

function groundSteps({ parts, placer }: SharedStages, { ground, network }: PlatformStages): readonly WorkflowStep[] {
  const { site } = parts
  const name = platformOf(site)
  const none = ground === 'yours' ? yours : undefined
  const why = `Sallyport has no provider for ${name} yet: it makes no network and no machines there`
  const bastion = site.bastion && `sallyport.yaml names a bastion: ${site.bastion.address}`
  return [
    placer.hand(
      { id: '01-infrastructure/network', title: 'networks of the site', where: 'connected', why, todo: network },
      { skipWhy: none },
    ),
    placer.hand(
      {
        id: '02-bastion/host',
        title: 'the host on both networks',
        where: 'connected',
        why,
        todo: 'Make a host on both networks, put sallyport on it, and name it in sallyport.yaml (bastion.address).',
      },
      { skipWhy: none ?? bastion },
    ),
  ]
}

function releaseSteps({ parts, placer }: SharedStages): readonly WorkflowStep[] {
  const { release, mirror } = parts.site
  return [
    placer.place(releaseStep(parts), {
      id: ids.release,
      input: () => ({
        ...release,
        ...(placer.hasMirror && { imageSet: `site:${mirror?.imageSet ?? ''}` }),
        // Nodes pull from where the release is, and the installer takes no pull secret without a login.
        needsPullSecret: !placer.hasMirror,
      }),
      belongsTo: 'always',
    }),
    placer.place(toolsStep(parts), {
      id: '04-tools/release',
      input: (of) => ({ release: of(ids.release, ReleaseKnown), directory: 'site:tools' }),
    }),
  ]
}

/** A mirror that Sallyport serves on the bastion. */
function serveSteps({ parts, placer, ids: { mirror } }: SharedStages): readonly WorkflowStep[] {
  const [registry = '', ...path] = parts.site.mirror?.registry.split('/') ?? []
  const root = contentPlace(parts, 'mirror-registry')
  return [
    placer.place(accountStep(parts), {
      id: ids.credentials,
      input: () => ({ registry, root }),
      belongsTo: 'mirror-registry',
    }),
    placer.place(serveMirrorStep(parts), {
      id: mirror,
      input: (of) => ({ credentials: of(ids.credentials, CredentialsMade), registry, path: path.join('/'), root }),
    }),
  ]
}

/** A mirror that is there. */
function givenSteps({ parts, placer, ids: { mirror } }: SharedStages): readonly WorkflowStep[] {
  const { mirror: given } = parts.site
  const [registry = '', ...path] = given?.registry.split('/') ?? []
  const login = given?.credentials === undefined ? {} : { credentials: { secret: given.credentials } }
  return [
    placer.place(givenCredentialsStep(parts), {
      id: ids.credentials,
      input: () => ({ registry, ...login }),
      belongsTo: 'mirror-registry',
    }),
    placer.place(givenMirrorStep(parts), {
      id: mirror,
      input: (of) => ({
        credentials: of(ids.credentials, CredentialsMade),
        registry,
        path: path.join('/'),
        ...(given?.ca !== undefined && { ca: given.ca }),
      }),
    }),
  ]
}

function prepareSteps(shared: SharedStages): readonly WorkflowStep[] {
  const { parts, placer } = shared
  const prepare = prepareInput(shared)
  const skipWhy = placer.hasMirror ? undefined : 'there is no mirror to rehearse with'
  const where = placer.hasMirror ? 'bastion' : 'connected'
  return [
    placer.place(installConfigStep(parts), { id: sharedIds.config, input: prepare }),
    placer.place(installerStep(parts, where), {
      id: sharedIds.installer,
      input: (of) => {
        const { site: _, ...input } = prepare(of)
        return input
      },
    }),
    placer.place(ignitionStep(parts), {
      id: sharedIds.ignition,
      input: (of) => {
        const { side } = prepare(of)
        const config = of(sharedIds.config, ConfigRendered)
        return { config, installer: of(sharedIds.installer, InstallerTaken), ...(side && { side }) }
      },
    }),
    placer.place(rehearseStep(parts), {
      id: sharedIds.rehearse,
      input: (of) => ({ bootstrap: of(sharedIds.ignition, BootstrapMade), via: [] }),
      skipWhy,
    }),
  ]
}

function installOf({ placer }: SharedStages, { install }: PlatformStages): WorkflowStep {
  return placer.hand({
    id: '08-install/machines',
    title: 'the machines of the cluster',
    where: 'closed',
    why: 'Sallyport does not drive openshift-install yet',
    todo: install,
  })
}

function clusterOf({ placer }: SharedStages): WorkflowStep {
  return placer.hand(
    {
      id: '09-verify/cluster',
      title: 'cluster operators and nodes',
      where: 'closed',
      why: 'Sallyport does not look into a cluster yet',
      todo: 'oc get clusteroperators,nodes',
    },
    { skipWhy: 'Sallyport does not look into a cluster yet: oc get clusteroperators,nodes', belongsTo: 'always' },
  )
}
