/**
 * What a sample bootstrap.ign is made from.
 *
 * The samples keep the contract of the installer's (paths, units, stages, names of images, texts that stand in a
 * journal), in scripts of their own. Source of the contract: openshift/installer `data/data/bootstrap` and
 * `pkg/asset/ignition/bootstrap/common.go`.
 */
import type { File, Unit } from '../../ignition/config.ts'

/** The minor versions in which the bootstrap changed; a sample has the scripts of the last one that is not later than its own. */
export const bootstrapEras = ['4.14', '4.16', '4.19', '4.21'] as const
export type BootstrapEra = (typeof bootstrapEras)[number]

/** An element of `imageDigestSources` of an install-config. */
export interface SampleDigestSource {
  readonly source: string
  readonly mirrors: readonly string[]
  /** Since 4.21. */
  readonly sourcePolicy?: 'NeverContactSource' | 'AllowContactingSource'
}

export interface SampleProxy {
  readonly httpProxy?: string
  readonly httpsProxy?: string
  /** As the install-config has it; what the installer adds is added here too. */
  readonly noProxy?: string
}

export interface SampleCluster {
  /** Default: `demo`. */
  readonly clusterName?: string
  /** Default: `lab.test`. */
  readonly baseDomain?: string
}

export interface SampleBootstrapOptions extends SampleCluster {
  readonly era: BootstrapEra
  /** As the installer has it baked in, or was told by OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE. */
  readonly releaseImage: string
  /** Default: `none`. */
  readonly platform?: 'none' | 'aws' | 'vsphere' | 'baremetal'
  /** Of the control plane, as the install-config names it. Default: amd64. */
  readonly architecture?: 'amd64' | 'arm64' | 'ppc64le' | 's390x'
  readonly digestSources?: readonly SampleDigestSource[]
  /** PEM. */
  readonly trustBundle?: string
  /** The text itself: JSON. */
  readonly pullSecret: string
  readonly proxy?: SampleProxy
  readonly sshKeys?: readonly string[]
  readonly fips?: boolean
  /** Certificates and keys by their name below `tls/`, from `sampleTlsAssets`. */
  readonly tls: Readonly<Record<string, string>>
  /** Texts by their place in the directory of the installer: `openshift/99-chrony.yaml`. They replace what is there. */
  readonly manifests?: Readonly<Record<string, string>>
  /** They replace what is there. */
  readonly files?: readonly File[]
  readonly units?: readonly Unit[]
}

export function isSince(era: BootstrapEra, since: BootstrapEra): boolean {
  return bootstrapEras.indexOf(era) >= bootstrapEras.indexOf(since)
}

/** `demo.lab.test` */
export function clusterDomain({ clusterName = 'demo', baseDomain = 'lab.test' }: SampleCluster): string {
  return `${clusterName}.${baseDomain}`
}
