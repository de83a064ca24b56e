/** Asks for every wanted image as each side would, many at a time. */
import { mapConcurrently } from '../../host/concurrency.ts'
import { parseReference, repositoryName } from '../../oci/reference.ts'
import type { BootstrapAccess } from '../bootstrap-access.ts'
import type { Pull } from '../pull/image-puller.ts'
import { decisiveFailure } from '../pull/pull-failure.ts'
import type { DiskNeed, ImageAttempt, RehearsedImage, Side } from './level-one-report.ts'
import type { WantedImage } from './wanted-images.ts'

export interface TriedImage {
  readonly wanted: WantedImage
  readonly pulls: Readonly<Partial<Record<Side, Pull>>>
}

/** The nodes' is absent where they would get no config at all. */
export type SideAccess = Readonly<{ bootstrap: BootstrapAccess; nodes?: BootstrapAccess }>

/** Registries take more at a time; what waits here is mostly their answers. */
const atATime = 24

export function tryImages(images: readonly WantedImage[], access: SideAccess): Promise<readonly TriedImage[]> {
  return mapConcurrently(images, atATime, async (wanted) => {
    const asked = wanted.sides.flatMap((side) => {
      const own = access[side]
      return own === undefined ? [] : [own.pull(wanted.reference).then((pull) => [side, pull] as const)]
    })
    return { wanted, pulls: Object.fromEntries(await Promise.all(asked)) }
  })
}

export function rehearsedImage({ wanted, pulls }: TriedImage): RehearsedImage {
  const { name, reference, use, isOptional, evidence } = wanted
  const pulled = [pulls.bootstrap, pulls.nodes].find((pull) => pull?.kind === 'pulled')
  return {
    name,
    reference,
    use,
    isOptional,
    evidence,
    ...(pulls.bootstrap && { bootstrap: attemptOf(pulls.bootstrap) }),
    ...(pulls.nodes && { nodes: attemptOf(pulls.nodes) }),
    ...(pulled && { sizeBytes: pulled.sizeBytes, blobs: pulled.manifest.layers.length + 1 }),
    ...(pulled?.architecture !== undefined && { architecture: pulled.architecture }),
  }
}

function attemptOf(pull: Pull): ImageAttempt {
  if (pull.kind === 'pulled') return { isPulled: true, from: repositoryName(pull.endpoint), isMirror: pull.isMirror }
  const decisive = decisiveFailure(pull.endpoints)
  const { message } = pull
  if (decisive === undefined) return { isPulled: false, message }
  const { fault, isMirror, reference } = decisive
  return { isPulled: false, from: repositoryName(parseReference(reference)), isMirror, fault, message }
}

/** rhel-coreos is some 1.2 GB as it travels and 3 GB on the disk; others are much like it. */
const unpackedFactor = 2.5

export function diskNeed(images: readonly TriedImage[]): DiskNeed {
  const pulled = images.flatMap(({ pulls }) => (pulls.bootstrap?.kind === 'pulled' ? [pulls.bootstrap] : []))
  const blobs = new Map(
    pulled.flatMap(({ manifest }) => [manifest.config, ...manifest.layers].map(({ digest, size }) => [digest, size])),
  )
  const compressedBytes = [...blobs.values()].reduce((sum, size) => sum + size, 0)
  return {
    images: pulled.length,
    blobs: blobs.size,
    compressedBytes,
    unpackedBytes: Math.round(compressedBytes * unpackedFactor),
  }
}
