/**
 * An Ignition config of the 3.x specifications, as it is written: everything but names and paths may be absent.
 *
 * One set of types for 3.0 to 3.6; which field belongs to which version is known to `spec-fields.ts`.
 *
 * Source: coreos/ignition `config/v3_6/types/schema.go`, docs/configuration-v3_6.md.
 */
export interface IgnitionConfig {
  readonly ignition: IgnitionSection
  readonly kernelArguments?: KernelArguments
  readonly passwd?: { readonly users?: readonly User[]; readonly groups?: readonly UserGroup[] }
  readonly storage?: Storage
  readonly systemd?: { readonly units?: readonly Unit[] }
}

export interface IgnitionSection {
  readonly version: string
  /** `merge`: children that win over this config, in order. `replace`: what stands in its place. */
  readonly config?: { readonly merge?: readonly Resource[]; readonly replace?: Resource }
  /** Seconds. */
  readonly timeouts?: { readonly httpResponseHeaders?: number | null; readonly httpTotal?: number | null }
  readonly security?: { readonly tls?: { readonly certificateAuthorities?: readonly Resource[] } }
  readonly proxy?: {
    readonly httpProxy?: string | null
    readonly httpsProxy?: string | null
    readonly noProxy?: readonly string[]
  }
}

export interface KernelArguments {
  readonly shouldExist?: readonly string[]
  readonly shouldNotExist?: readonly string[]
}

/** Bytes that are somewhere: in a data URL, or behind http, https, tftp, s3, gs, arn. */
export interface Resource {
  readonly source?: string | null
  /** `gzip`, or nothing. */
  readonly compression?: string | null
  readonly httpHeaders?: readonly HttpHeader[]
  readonly verification?: Verification
}

export interface HttpHeader {
  readonly name: string
  readonly value?: string | null
}

export interface Verification {
  /** `sha256-HEX` or `sha512-HEX` of the bytes after decompression. */
  readonly hash?: string | null
}

export interface Owner {
  readonly id?: number | null
  readonly name?: string | null
}

/** What every file, directory and link has. */
export interface StorageNode {
  readonly path: string
  readonly overwrite?: boolean | null
  readonly user?: Owner
  readonly group?: Owner
}

export interface File extends StorageNode {
  readonly contents?: Resource
  readonly append?: readonly Resource[]
  /** Permission bits as a number, which JSON writes in decimal: 420 is 0644. */
  readonly mode?: number | null
}

export interface Directory extends StorageNode {
  readonly mode?: number | null
}

export interface Link extends StorageNode {
  readonly target?: string | null
  readonly hard?: boolean | null
}

export interface Storage {
  readonly files?: readonly File[]
  readonly directories?: readonly Directory[]
  readonly links?: readonly Link[]
  readonly disks?: readonly Disk[]
  readonly raid?: readonly Raid[]
  readonly filesystems?: readonly Filesystem[]
  readonly luks?: readonly Luks[]
}

export interface Disk {
  readonly device: string
  readonly wipeTable?: boolean | null
  readonly partitions?: readonly Partition[]
}

export interface Partition {
  /** 0 or absent: the next that is free. */
  readonly number?: number
  readonly label?: string | null
  readonly guid?: string | null
  readonly typeGuid?: string | null
  readonly startMiB?: number | null
  /** 0: as far as it goes. */
  readonly sizeMiB?: number | null
  readonly resize?: boolean | null
  readonly shouldExist?: boolean | null
  readonly wipePartitionEntry?: boolean | null
}

export interface Raid {
  readonly name: string
  readonly devices?: readonly string[]
  readonly level?: string | null
  readonly options?: readonly string[]
  readonly spares?: number | null
}

export interface Filesystem {
  readonly device: string
  readonly format?: string | null
  readonly path?: string | null
  readonly label?: string | null
  readonly uuid?: string | null
  readonly options?: readonly string[]
  readonly mountOptions?: readonly string[]
  readonly wipeFilesystem?: boolean | null
}

export interface Luks {
  readonly name: string
  readonly device?: string | null
  readonly keyFile?: Resource
  readonly label?: string | null
  readonly uuid?: string | null
  readonly options?: readonly string[]
  readonly openOptions?: readonly string[]
  readonly discard?: boolean | null
  readonly wipeVolume?: boolean | null
  readonly clevis?: Clevis | null
  readonly cex?: { readonly enabled?: boolean | null }
}

export interface Clevis {
  readonly custom?: ClevisCustom | null
  readonly tang?: readonly Tang[]
  readonly threshold?: number | null
  readonly tpm2?: boolean | null
}

export interface ClevisCustom {
  readonly pin?: string | null
  readonly config?: string | null
  readonly needsNetwork?: boolean | null
}

export interface Tang {
  readonly url: string
  readonly thumbprint?: string | null
  readonly advertisement?: string | null
}

export interface Unit {
  readonly name: string
  readonly enabled?: boolean | null
  readonly mask?: boolean | null
  readonly contents?: string | null
  readonly dropins?: readonly Dropin[]
}

export interface Dropin {
  readonly name: string
  readonly contents?: string | null
}

export interface User {
  readonly name: string
  readonly uid?: number | null
  readonly groups?: readonly string[]
  readonly sshAuthorizedKeys?: readonly string[]
  readonly passwordHash?: string | null
  readonly gecos?: string | null
  readonly homeDir?: string | null
  readonly noCreateHome?: boolean | null
  readonly noLogInit?: boolean | null
  readonly noUserGroup?: boolean | null
  readonly primaryGroup?: string | null
  readonly shell?: string | null
  readonly shouldExist?: boolean | null
  readonly system?: boolean | null
}

export interface UserGroup {
  readonly name: string
  readonly gid?: number | null
  readonly passwordHash?: string | null
  readonly shouldExist?: boolean | null
  readonly system?: boolean | null
}
