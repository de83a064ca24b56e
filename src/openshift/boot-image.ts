/** What a machine can be started from: files to carry, and images that a cloud already holds. */
import type { Digest } from '../oci/digest.ts'

interface BootImageBase {
  /** As CoreOS writes it: `x86_64`, `aarch64`, `ppc64le`, `s390x`. */
  readonly architecture: string
  /** As CoreOS writes it: `aws`, `metal`, `vmware`, `qemu`, `kubevirt`, … */
  readonly platform: string
  /** The build of CoreOS, for example `412.86.202212081411-0`; empty where the metadata does not say. */
  readonly release: string
}

/** A file behind a URL. */
export interface BootFile extends BootImageBase {
  readonly kind: 'file'
  /** `ova`, `iso`, `qcow2.gz`, `raw.gz`, `4k.raw.gz`, `pxe`, … */
  readonly format: string
  readonly role: 'disk' | 'kernel' | 'initramfs' | 'rootfs'
  readonly location: string
  readonly digest: Digest
  /** Of the file when it is unpacked. */
  readonly uncompressedDigest?: Digest
  /** In bytes. */
  readonly size?: number
  /** Where a detached OpenPGP signature is. */
  readonly signature?: string
}

/** An image that a cloud holds once for each region: AMIs, objects in buckets. */
export interface RegionImages extends BootImageBase {
  readonly kind: 'regions'
  /** By region: the id of the image, or `BUCKET/OBJECT`. */
  readonly regions: ReadonlyMap<string, string>
}

/** An image that a cloud holds under one name for all regions: Google Cloud. */
export interface CloudImage extends BootImageBase {
  readonly kind: 'cloud'
  readonly project: string
  /** Absent where only the family is named. */
  readonly name?: string
  readonly family?: string
}

/** A disk that a cloud reads by its URL: Azure. */
export interface CloudDisk extends BootImageBase {
  readonly kind: 'cloud-disk'
  readonly location: string
}

/** A disk inside a container image: KubeVirt. */
export interface ContainerDisk extends BootImageBase {
  readonly kind: 'container'
  /** By tag, which moves. */
  readonly image: string
  /** By digest. */
  readonly digestReference?: string
}

export type BootImage = BootFile | RegionImages | CloudImage | CloudDisk | ContainerDisk

/** The boot images of one build of CoreOS. */
export interface CoreosStream {
  /** `rhcos-4.12`, `stable`, …; the build of CoreOS in the metadata of 4.1 to 4.7. */
  readonly name: string
  /** By architecture as the metadata has them, files first. */
  readonly images: readonly BootImage[]
  /**
   * All streams of a release that has several, by name: `rhel-9`, `rhel-10`. The one that is used where nobody chooses is
   * among them, or is the same as one of them.
   */
  readonly streams?: ReadonlyMap<string, CoreosStream>
}
