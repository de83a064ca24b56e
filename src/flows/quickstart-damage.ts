/** Breaks two images of the mirror on purpose, as a disk or a careless hand would. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import type { Digest } from '../oci/digest.ts'
import type { SampleRelease } from '../quickstart/sample-release.ts'
import type { StorePaths } from '../store/paths.ts'
import type { DamagedImage } from './quickstart-steps.ts'

export const damagedImages = 2

/** Removes a layer of one component, and changes one byte in a layer of another. Neither layer is shared. */
export async function damageTwoImages(
  release: SampleRelease,
  paths: StorePaths,
): Promise<readonly Omit<DamagedImage, 'finding'>[]> {
  const removed = ownLayer(release, 'etcd')
  await rm(paths.blob(removed))
  const changed = ownLayer(release, 'machine-config-operator')
  await changeByte(paths.blob(changed))
  return [
    { component: 'etcd', damage: 'layer removed', digest: removed, command: 'verify mirror' },
    { component: 'machine-config-operator', damage: 'byte changed', digest: changed, command: 'verify mirror --deep' },
  ]
}

/** The first layer that no other component has. */
function ownLayer({ components }: SampleRelease, name: string): Digest {
  const others = new Set(
    components
      .filter((component) => component.name !== name)
      .flatMap(({ image }) => image.blobs.map(({ descriptor }) => descriptor.digest)),
  )
  const own = components.find((component) => component.name === name)?.image.blobs ?? []
  const layer = own.find(({ descriptor }) => !others.has(descriptor.digest))
  if (!layer) throw new Error(`the sample release has no component ${name} with a layer of its own`)
  return layer.descriptor.digest
}

async function changeByte(path: string): Promise<void> {
  const bytes = await readFile(path)
  const middle = bytes.byteLength >> 1
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
  // Removed first: the store may have made the file read-only.
  await rm(path)
  await writeFile(path, bytes)
}
