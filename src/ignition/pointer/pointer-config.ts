/**
 * Pointer configs: small ones that say where the real one is, for platforms whose user data is smaller than a bootstrap
 * config (about 300 KB).
 *
 * Sources: coreos/ignition `docs/configuration-v3_*.md`, `docs/migrating-configs.md` (which version brought what),
 * `internal/resource/url.go:fetchFromS3` (no compression), `docs/operator-notes.md`, "Config Merging" (order).
 */
import { createHash } from 'node:crypto'
import type { IgnitionConfig, Resource } from '../config.ts'
import { encodeDataUrl } from '../data-url.ts'

export type HashKind = 'sha512' | 'sha256' | 'none'

export interface PointerTarget {
  readonly url: string
  /** What is behind the URL, decompressed. */
  readonly bytes: Uint8Array
  readonly hash: HashKind
  /** True where the server gives it compressed with gzip. */
  readonly isGzip: boolean
}

export interface PointerRequest {
  /** The specification of what the pointer leads to: whatever reads that reads a pointer of the same version. */
  readonly version: string
  /** `replace` takes one target, `merge` merges them in order: the last one wins. */
  readonly via: 'replace' | 'merge'
  readonly targets: readonly PointerTarget[]
  /** PEM; for servers whose certificate the boot image does not trust. */
  readonly ca?: string | undefined
}

/** The pointer, of the version of its target, or of the oldest one that has all it needs. */
export function pointerConfig({ version, via, targets, ca }: PointerRequest): IgnitionConfig {
  const resources = targets.map(resourceOf)
  const config = via === 'merge' ? { merge: resources } : { replace: resources[0] ?? {} }
  const security =
    ca === undefined ? {} : { security: { tls: { certificateAuthorities: [{ source: encodeDataUrl(ca) }] } } }
  const needed = targets.map(versionNeeded)
  return { ignition: { config, ...security, version: [version, ...needed].reduce(later) } }
}

/** `sha512-HEX`, as `verification.hash` has it. */
export function verificationHash(bytes: Uint8Array, kind: Exclude<HashKind, 'none'>): string {
  return `${kind}-${createHash(kind).update(bytes).digest('hex')}`
}

export function schemeOf(url: string): string {
  return (/^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1] ?? '').toLowerCase()
}

function resourceOf({ url, bytes, hash, isGzip }: PointerTarget): Resource {
  return {
    source: url,
    ...(isGzip && { compression: 'gzip' }),
    ...(hash !== 'none' && { verification: { hash: verificationHash(bytes, hash) } }),
  }
}

/** 3.1: sha256, and compression of configs; 3.2: Google Cloud Storage; 3.4: ARNs. sha512 was there from the beginning. */
function versionNeeded({ url, hash, isGzip }: PointerTarget): string {
  const scheme = schemeOf(url)
  if (scheme === 'arn') return '3.4.0'
  if (scheme === 'gs') return '3.2.0'
  return isGzip || hash === 'sha256' ? '3.1.0' : '3.0.0'
}

function later(one: string, other: string): string {
  return minorOf(other) > minorOf(one) ? other : one
}

function minorOf(version: string): number {
  return Number(version.split('.')[1])
}
