/** Whether a plan that was read from a file hangs together: it may have been edited, or come from somebody else. Pure. */
import { KnownError } from '../errors/known-error.ts'
import { parseReference, repositoryName } from '../oci/reference.ts'
import { archiveTarget } from './archive-target.ts'
import type { MirrorPlan, PlannedBlob, PlannedManifest, PlanTotals } from './plan.ts'

/** The first thing that is wrong, with its place; undefined for a plan that can be carried out. */
export function findInconsistency(plan: MirrorPlan): string | undefined {
  try {
    checkNames(plan)
    checkManifests(plan, indexOf(plan))
    checkImages(plan)
    checkTotals(plan)
    return undefined
  } catch (error) {
    if (error instanceof Inconsistency || error instanceof KnownError) return error.message
    throw error
  }
}

/** What such a plan needs and does not have is at the other side. */
function isForArchive({ target }: MirrorPlan): boolean {
  return target === archiveTarget.registry
}

/** Ends the check at the first fault; never leaves this file. */
class Inconsistency extends Error {}

function fail(place: string, why: string): never {
  throw new Inconsistency(`${place}: ${why}`)
}

/** What there is to need, by `HOST/PATH DIGEST`. */
interface Index {
  readonly blobs: ReadonlySet<string>
  readonly levels: ReadonlyMap<string, number>
  /** The destinations of manifests, with their digests. */
  readonly destinations: ReadonlyMap<string, string>
}

function indexOf({ blobs, manifests }: MirrorPlan): Index {
  const levels = new Map<string, number>()
  const destinations = new Map<string, string>()
  for (const [at, { destination, digest, level }] of manifests.entries()) {
    if (destinations.has(destination)) fail(`manifests[${at}]`, `${destination} is there twice`)
    destinations.set(destination, digest)
    // Where a manifest is under a tag as well, what needs it counts on the one that comes first.
    const key = `${repositoryOf(destination)} ${digest}`
    levels.set(key, Math.min(level, levels.get(key) ?? level))
  }
  const pairs = blobs.flatMap(({ digest, repositories }) => repositories.map((one) => `${one} ${digest}`))
  return { blobs: new Set(pairs), levels, destinations }
}

function repositoryOf(destination: string): string {
  return repositoryName(parseReference(destination))
}

/** A plan pushes with the credentials of its target: it may name no other place. */
function checkNames({ target, images, blobs, manifests }: MirrorPlan): void {
  const below = (name: string, place: string) => {
    parseReference(name)
    if (!name.startsWith(`${target}/`)) fail(place, `${name} is not below the target ${target}`)
  }
  // A bare name such as "lab" would be read as a path on docker.io.
  checkRepository(`${target}/x`, 'target')
  const digests = new Set<string>()
  for (const [at, { digest, source, repositories }] of blobs.entries()) {
    if (digests.has(digest)) fail(`blobs[${at}]`, `${digest} is there twice`)
    digests.add(digest)
    checkRepository(source, `blobs[${at}].source`)
    if (new Set(repositories).size < repositories.length) fail(`blobs[${at}]`, 'a repository is there twice')
    for (const repository of repositories) {
      below(repository, `blobs[${at}]`)
      checkRepository(repository, `blobs[${at}].repositories`)
    }
  }
  for (const [at, { source, destination }] of manifests.entries()) {
    checkRepository(source, `manifests[${at}].source`)
    below(destination, `manifests[${at}]`)
  }
  for (const [at, { source, destination, alsoNamed = [] }] of images.entries()) {
    for (const name of [source, ...alsoNamed]) parseReference(name)
    below(destination, `images[${at}]`)
  }
}

function checkRepository(name: string, place: string): void {
  if (repositoryOf(name) !== name) fail(place, `"${name}" is not HOST/PATH`)
}

/** Children first, tags last; every blob and manifest that is needed is in the plan. */
function checkManifests(plan: MirrorPlan, index: Index): void {
  const needed = new Set<string>()
  const untagged = deepestUntagged(plan.manifests)
  for (const [at, manifest] of plan.manifests.entries()) {
    const { destination, digest, level, needs } = manifest
    const reference = parseReference(destination)
    const place = `manifests[${at}] (${destination})`
    if (reference.digest !== undefined && reference.digest !== digest) fail(place, `its digest is ${digest}`)
    if (reference.digest === undefined && reference.tag === undefined) fail(place, 'neither a tag nor a digest')
    if (reference.tag !== undefined && level <= untagged)
      fail(place, `a tag at level ${level} comes before its content`)
    const repository = repositoryName(reference)
    for (const need of needs) {
      const key = `${repository} ${need}`
      needed.add(key)
      const below = index.levels.get(key)
      if (index.blobs.has(key)) continue
      if (below === undefined && !isForArchive(plan)) fail(place, `it needs ${need}, which is not in the plan`)
      if (below !== undefined && below >= level)
        fail(place, `it needs ${need}, which comes at level ${below}, not before`)
    }
  }
  checkBlobsNeeded(plan.blobs, needed)
}

function deepestUntagged(manifests: readonly PlannedManifest[]): number {
  const untagged = manifests.filter(({ destination }) => parseReference(destination).tag === undefined)
  return untagged.reduce((deepest, { level }) => Math.max(deepest, level), -1)
}

function checkBlobsNeeded(blobs: readonly PlannedBlob[], needed: ReadonlySet<string>): void {
  for (const [at, { digest, repositories }] of blobs.entries()) {
    const idle = repositories.find((repository) => !needed.has(`${repository} ${digest}`))
    if (idle !== undefined) fail(`blobs[${at}]`, `nothing in ${idle} needs ${digest}`)
  }
}

/** Every image that is not there has its manifest, and every tag belongs to an image. */
function checkImages(plan: MirrorPlan): void {
  const { images, manifests } = plan
  const planned = new Map(manifests.map((manifest): [string, PlannedManifest] => [manifest.destination, manifest]))
  // A signature that two tags of one image share is there for each of them.
  const named = new Map<string, string>()
  for (const [at, { destination, digest, isPresent }] of images.entries()) {
    const place = `images[${at}] (${destination})`
    const other = named.get(destination)
    if (other !== undefined && other !== digest) fail(place, `is there twice, also as ${other}`)
    named.set(destination, digest)
    const manifest = planned.get(destination)
    if (manifest ? manifest.digest !== digest : !isPresent && !isForArchive(plan)) {
      fail(place, manifest ? `its manifest is ${manifest.digest}` : 'its manifest is not in the plan')
    }
  }
  for (const [at, { destination }] of manifests.entries()) {
    const isTag = parseReference(destination).tag !== undefined
    if (isTag && !named.has(destination)) fail(`manifests[${at}]`, `${destination} is the tag of no image in the plan`)
  }
}

function checkTotals(plan: MirrorPlan): void {
  const { totals, images, blobs, manifests } = plan
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const bytes = sum(blobs.map(({ size }) => size))
  const counted: Partial<PlanTotals> = {
    images: images.length,
    present: images.filter(({ isPresent }) => isPresent).length,
    blobs: blobs.length,
    bytes,
    // What the other side of an archive holds is counted, and not carried.
    ...(!isForArchive(plan) && {
      mounts: sum(blobs.map(({ repositories }) => repositories.length - 1)),
      manifests: manifests.length,
    }),
  }
  for (const [name, value] of Object.entries(counted)) {
    const said = Object.entries(totals).find(([key]) => key === name)?.[1]
    if (said !== value) fail(`totals.${name}`, `says ${said}, and the plan has ${value}`)
  }
  if (totals.logicalBytes < bytes) fail('totals.logicalBytes', `says ${totals.logicalBytes}, less than totals.bytes`)
}
