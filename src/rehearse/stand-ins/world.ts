/** What the stand-ins know of the world outside the sandbox: level 1 of the rehearsal, and the config itself. */
import type { KnownError } from '../../errors/known-error.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { ReleasePayload } from '../../openshift/release-payload.ts'
import type { Pull } from '../pull/image-puller.ts'

export interface ReadRelease {
  readonly payload: ReleasePayload
  /** The text of `release-manifests/image-references`. */
  readonly imageReferences: string
}

export interface StandInWorld {
  readonly bootstrap: BootstrapConfig
  /** Of the bootstrap host, as Go names it. */
  readonly architecture: string
  /** Through the registries.conf of the config. */
  readonly pull: (reference: string) => Promise<Pull>
  /** As `oc` does: by the mirrors of a file with an IDMS or an ICSP, and by nothing else. */
  readonly pullAsOc: (reference: string, mirrorFile: string | undefined) => Promise<Pull>
  readonly release: () => Promise<ReadRelease | KnownError>
  /** Addresses that a name has; none where it does not resolve. */
  readonly resolveName: (name: string) => Promise<readonly string[]>
  /** What a unit has printed so far. */
  readonly journal: (unit: string) => string
}
