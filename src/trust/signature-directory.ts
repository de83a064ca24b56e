/**
 * Signatures in a directory of the workspace, named as oc-mirror names them: `<tag>-sha256-<hex>` with the tag that the signer gave the release,
 * and `<tag>-sha256-<hex>-2`, `-3`, … for further ones, which oc-mirror does not have (openshift/oc-mirror `internal/pkg/release/signature.go`).
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Log } from '../host/log.ts'
import { randomId } from '../host/random.ts'
import { algorithmOf, type Digest, hexOf } from '../oci/digest.ts'
import { diskError } from '../store/disk.ts'
import { signatureFilesOf, signaturesFromOcMirror } from './signature-documents.ts'
import type { ReleaseSignature, SignatureSource } from './signature-source.ts'
import type { VerifiedSignature } from './verify-release.ts'

export class SignatureDirectory implements SignatureSource {
  readonly #path: string

  /** @param path `working-dir/signatures`; need not exist */
  constructor(path: string) {
    this.#path = path
  }

  async readSignatures(digest: Digest, signal: AbortSignal): Promise<readonly ReleaseSignature[]> {
    const names = await this.#names()
    const read = (name: string) => readFile(join(this.#path, name.slice('signatures/'.length)), { signal })
    const paths = names.map((name) => `signatures/${name}`)
    return signaturesFromOcMirror(paths, read).readSignatures(digest, signal)
  }

  /**
   * Keeps what was verified; what is there stays. Nothing is written where all of it is there already.
   *
   * @throws KnownError DISK_FULL
   */
  async keep(digest: Digest, signatures: readonly VerifiedSignature[], signal: AbortSignal): Promise<void> {
    const known = await this.readSignatures(digest, signal)
    const taken = new Set(signatureFilesOf(digest, await this.#names()))
    for (const { bytes, claim } of signatures) {
      if (known.some((one) => Buffer.from(one.bytes).equals(bytes))) continue
      const name = freeName(`${tagOf(claim.identity)}-${algorithmOf(digest)}-${hexOf(digest)}`, taken)
      taken.add(name)
      await this.#write(name, bytes)
    }
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#path)
    } catch (cause) {
      if (hasSystemCode(cause, 'ENOENT')) return []
      throw new KnownError('FILE_UNREADABLE', `${this.#path} cannot be read`, { details: { file: this.#path }, cause })
    }
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#path, name)
    // No digest in its name: whatever looks for signatures must not take it for one.
    const staged = join(this.#path, `.${randomId()}.new`)
    try {
      await mkdir(this.#path, { recursive: true })
      await writeFile(staged, bytes, { flush: true })
      await rename(staged, path)
    } catch (cause) {
      await rm(staged, { force: true })
      throw diskError(cause, path)
    }
  }
}

/** The first as oc-mirror names it, the others numbered. */
function freeName(first: string, taken: ReadonlySet<string>): string {
  if (taken.size === 0) return first
  for (let number = taken.size + 1; ; number += 1) {
    const name = `${first}-${number}`
    if (!taken.has(name)) return name
  }
}

/** A name by digest has none. */
function tagOf(identity: string): string {
  return /^[^@]+:([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})$/.exec(identity)?.[1] ?? 'release'
}

/**
 * What a source has, and behind it what the directory has besides. Where the source gives no answer, the directory alone is enough: what it holds was
 * verified, and is verified again.
 */
export function withSignatureCache(source: SignatureSource, directory: SignatureDirectory, log: Log): SignatureSource {
  return {
    readSignatures: async (digest, signal) => {
      const kept = await directory.readSignatures(digest, signal)
      const fetched = await readOrKept({ source, digest, signal, log, hasKept: kept.length > 0 })
      const others = kept.filter(({ bytes }) => fetched.every((one) => !Buffer.from(one.bytes).equals(bytes)))
      const last = fetched.at(-1)?.number ?? 0
      return [...fetched, ...others.map(({ bytes }, index) => ({ number: last + index + 1, bytes }))]
    },
  }
}

interface Reading {
  readonly source: SignatureSource
  readonly digest: Digest
  readonly signal: AbortSignal
  readonly log: Log
  readonly hasKept: boolean
}

async function readOrKept({ source, digest, signal, log, hasKept }: Reading): Promise<readonly ReleaseSignature[]> {
  try {
    return await source.readSignatures(digest, signal)
  } catch (error) {
    const isUnavailable = error instanceof KnownError && error.code === 'SIGNATURE_UNAVAILABLE'
    if (!isUnavailable || !hasKept) throw error
    log.warn(`${error.message}; the signatures of an earlier run are used`)
    return []
  }
}
