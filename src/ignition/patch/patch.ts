/** What a patch says in words of its subject, and what of an Ignition config it comes to. */
import type { Finding } from '../../errors/finding.ts'

/** Read already: every file that the patch names is here with its contents. */
export interface IgnitionPatch {
  /** Names the MachineConfigs that are made of it: lower case, digits, `-`. */
  readonly name: string
  /** Certificates that the host is to trust. */
  readonly trust?: readonly TrustAnchor[]
  readonly hosts?: readonly HostName[]
  readonly chrony?: { readonly servers: readonly string[] }
  readonly registries?: readonly RegistriesDropIn[]
  readonly units?: readonly UnitPatch[]
  readonly dropins?: readonly DropinPatch[]
  readonly files?: readonly FilePatch[]
  readonly proxy?: ProxyPatch
  readonly kernelArguments?: KernelArgumentsPatch
}

export interface TrustAnchor {
  /** Of the file below `anchors/`, without `.crt`. */
  readonly name: string
  readonly pem: string
}

export interface HostName {
  readonly name: string
  readonly address: string
}

export interface RegistriesDropIn {
  /** `50-lab.conf`. */
  readonly fileName: string
  readonly text: string
}

export interface UnitPatch {
  readonly name: string
  readonly enabled?: boolean
  readonly mask?: boolean
  readonly contents?: string
}

export interface DropinPatch {
  readonly unit: string
  /** `10-lab.conf`. */
  readonly name: string
  readonly contents: string
}

export interface FilePatch {
  readonly path: string
  /** Permission bits. Default: 0644. */
  readonly mode?: number
  readonly contents: Uint8Array
  readonly user?: string
  readonly group?: string
}

export interface ProxyPatch {
  readonly httpProxy?: string
  readonly httpsProxy?: string
  readonly noProxy?: readonly string[]
}

export interface KernelArgumentsPatch {
  readonly shouldExist: readonly string[]
  readonly shouldNotExist: readonly string[]
}

/** The part of a patch that a file comes from. */
export type PatchPart = 'trust' | 'hosts' | 'chrony' | 'registries' | 'proxy' | 'files'

export interface PatchedFile extends FilePatch {
  readonly mode: number
  readonly part: PatchPart
}

export interface PatchedUnit extends UnitPatch {
  readonly dropins: readonly Omit<DropinPatch, 'unit'>[]
}

/** The same for the bootstrap host and for nodes: each is made of nothing but this. */
export interface PatchChanges {
  /** Every path once. */
  readonly files: readonly PatchedFile[]
  /** Every name once. */
  readonly units: readonly PatchedUnit[]
  readonly kernelArguments?: KernelArgumentsPatch
}

/** A part of a patch, worked out. */
export interface WorkedOut {
  readonly files: readonly PatchedFile[]
  readonly findings: readonly Finding[]
}
