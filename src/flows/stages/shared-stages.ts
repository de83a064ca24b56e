/** Stages 06 and 09, which are the same on every platform. */
import { resolve } from 'node:path'
import type { OutputReader, WorkflowStep } from '../../workflow/workflow.ts'
import { CredentialsMade, MirrorMade } from './bastion-outputs.ts'
import { Collected, Loaded } from './mirror-outputs.ts'
import { arrivalStep, collectStep, loadStep } from './mirror-steps.ts'
import type { MirrorSide } from './prepare-steps.ts'
import { ReleaseKnown } from './release-outputs.ts'
import type { StageParts } from './stage-parts.ts'
import type { StagePlacer } from './stage-placer.ts'
import { verifyEgressStep, verifyMirrorStep } from './verify-steps.ts'

/** The ids of steps whose output others read. */
export interface SharedIds {
  readonly release: string
  readonly credentials: string
  readonly mirror: string
}

export const sharedIds = {
  collect: '06-mirror-images/collect',
  arrive: '06-mirror-images/arrive',
  load: '06-mirror-images/load',
  config: '07-prepare/install-config',
  installer: '07-prepare/installer',
  ignition: '07-prepare/ignition',
  rehearse: '07-prepare/rehearse',
  everything: '09-verify/mirror',
  egress: '09-verify/egress',
} as const

export interface SharedStages {
  readonly parts: StageParts
  readonly placer: StagePlacer
  readonly ids: SharedIds
}

export function imageSteps({ parts, placer, ids }: SharedStages): readonly WorkflowStep[] {
  const { collect, arrive, load } = sharedIds
  return [
    placer.place(collectStep(parts), {
      id: collect,
      input: (of) => {
        const release = of(ids.release, ReleaseKnown)
        return { release, imageSet: release.imageSet ?? '' }
      },
      ...(parts.openLab === undefined && { files: imageSetFiles(parts) }),
    }),
    placer.place(arrivalStep(parts), { id: arrive, input: (of) => ({ collected: of(collect, Collected) }) }),
    placer.place(loadStep(parts), {
      id: load,
      input: (of) => ({
        collected: of(arrive, Collected),
        mirror: of(ids.mirror, MirrorMade),
        credentials: of(ids.credentials, CredentialsMade),
        release: of(ids.release, ReleaseKnown),
      }),
    }),
  ]
}

function imageSetFiles({ site, directory }: StageParts): readonly string[] {
  return site.mirror === undefined ? [] : [resolve(directory, site.mirror.imageSet)]
}

export function verifySteps({ parts, placer, ids }: SharedStages): readonly WorkflowStep[] {
  const input = (of: OutputReader) => ({ release: of(ids.release, ReleaseKnown), side: mirrorSideOf(of, ids) })
  const skipWhy = placer.hasMirror ? undefined : 'there is no mirror to prove'
  return [
    placer.place(verifyMirrorStep(parts), { id: sharedIds.everything, input, skipWhy }),
    placer.place(verifyEgressStep(parts), { id: sharedIds.egress, input, skipWhy }),
  ]
}

export function mirrorSideOf(of: OutputReader, ids: SharedIds): MirrorSide {
  return {
    mirror: of(ids.mirror, MirrorMade),
    credentials: of(ids.credentials, CredentialsMade),
    loaded: of(sharedIds.load, Loaded),
  }
}

/** What stage 07 is given. */
export function prepareInput({ parts, placer, ids }: SharedStages) {
  return (of: OutputReader) => ({
    release: of(ids.release, ReleaseKnown),
    site: JSON.parse(JSON.stringify(parts.site)),
    ...(placer.hasMirror && { side: mirrorSideOf(of, ids) }),
  })
}
