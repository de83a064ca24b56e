/** OCI image layouts on disk, as skopeo writes them. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Digest, hexOf } from '../src/oci/digest.ts'
import type { SampleImage } from '../src/quickstart/sample-image.ts'

/** Writes `images` into `directory`, each under its tag. */
export async function writeLayout(directory: string, images: readonly SampleImage[]): Promise<void> {
  const blobs = join(directory, 'blobs', 'sha256')
  await mkdir(blobs, { recursive: true })
  const put = (digest: Digest, bytes: Uint8Array) => writeFile(join(blobs, hexOf(digest)), bytes)
  for (const image of images) {
    for (const { descriptor, bytes } of image.manifests) await put(descriptor.digest, bytes)
    for (const { descriptor, open } of image.blobs)
      await put(descriptor.digest, Buffer.concat(await Array.fromAsync(open())))
  }
  const manifests = images.map(({ descriptor, manifests: [...own] }) => {
    const tag = own.at(-1)?.tag
    return { ...descriptor, ...(tag && { annotations: { 'org.opencontainers.image.ref.name': tag } }) }
  })
  await writeFile(join(directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  await writeFile(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }))
}
