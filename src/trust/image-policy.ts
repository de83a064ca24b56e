/**
 * Whether an image may be used, by policy.json and registries.d as containers/image means them, asked before its bytes
 * move.
 *
 * Of an index, the manifests that it names are checked, each by its own signatures, and the index itself is not: so do
 * `skopeo copy --all` and oc-mirror (containers/image `copy/multiple.go`: only `copySingleImage` asks the policy). Only an
 * index that names nothing is checked itself, which containers/image lets pass.
 */

import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import type { WebClient } from '../remote/web-client.ts'
import { ImageSignatures } from './image-signatures.ts'
import { type Policy, requirementsFor, type ScopedRequirements } from './policy.ts'
import { whyUnmet } from './policy-evaluate.ts'
import { loadPolicy } from './policy-file.ts'
import { PolicyKeys } from './policy-keys.ts'
import type { PolicyRequirement } from './policy-requirement.ts'
import { loadRegistriesD, type RegistriesD, withAttachmentsByDefault } from './registries-d.ts'

export interface ImagePolicyOptions {
  /** `--policy`; else the user's, else the system's. */
  readonly policyPath?: string | undefined
  /** `--registries.d`; else the user's, else the system's. */
  readonly registriesD?: string | undefined
  /** Sigstore attachments are looked at where registries.d does not say otherwise: so does oc-mirror, and skopeo does not. */
  readonly usesAttachmentsByDefault?: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of this process, to know which lookaside store is the built-in one; undefined where the system has none. */
  readonly userId: number | undefined
  readonly clock: Clock
  /** Default: /etc/containers */
  readonly systemDir?: string
}

export interface PolicyImage {
  /** As the configuration names it, before any mirror. */
  readonly source: Reference
  readonly digest: Digest
  /** The images of an index, down to the last platform; empty or absent for a single image. */
  readonly instances?: readonly Digest[]
}

export interface EvaluationContext {
  readonly source: ContentSource
  readonly web: WebClient
  readonly signal: AbortSignal
}

/** A requirement that is not met. */
export interface Rejection {
  /** Of the manifest that does not meet it. */
  readonly digest: Digest
  /** `transports.docker."quay.io/ns"[0]` */
  readonly place: string
  readonly file: string
  readonly line: number
  readonly type: PolicyRequirement['type']
  /** What was found, one line a signature. */
  readonly reasons: readonly string[]
}

export type Verdict =
  | { readonly accepted: true; readonly by: string }
  | { readonly accepted: false; readonly by: string; readonly rejections: readonly Rejection[] }

export class ImagePolicy {
  readonly #policy: Policy
  readonly #registriesD: RegistriesD
  readonly #options: ImagePolicyOptions
  readonly #keys = new PolicyKeys()

  private constructor(policy: Policy, registriesD: RegistriesD, options: ImagePolicyOptions) {
    this.#policy = policy
    this.#registriesD = registriesD
    this.#options = options
  }

  /** @throws KnownError POLICY_INVALID, FILE_UNREADABLE */
  static async load(options: ImagePolicyOptions): Promise<ImagePolicy> {
    const { policyPath, registriesD, env, systemDir } = options
    const where = { env, ...(systemDir !== undefined && { systemDir }) }
    const policy = await loadPolicy({ ...where, path: policyPath })
    const storage = await loadRegistriesD({ ...where, path: registriesD })
    return new ImagePolicy(
      policy,
      options.usesAttachmentsByDefault ? withAttachmentsByDefault(storage) : storage,
      options,
    )
  }

  /** The file that is in force. */
  get file(): string {
    return this.#policy.file
  }

  /**
   * @throws KnownError where signatures cannot be read at all: the REGISTRY_ and WEB_ codes, POLICY_INVALID for a lookaside
   * URL that is none
   */
  async evaluate(image: PolicyImage, context: EvaluationContext): Promise<Verdict> {
    const scoped = requirementsFor(this.#policy, image.source)
    const by = `${scoped.place} of ${this.#policy.file}`
    const instances = image.instances ?? []
    const digests = instances.length === 0 ? [image.digest] : instances
    const found = await mapConcurrently(digests, 4, (digest) => this.#reject({ ...image, digest }, scoped, context))
    const rejections = found.filter((one) => one !== undefined)
    return rejections.length === 0 ? { accepted: true, by } : { accepted: false, by, rejections }
  }

  /** The first requirement that is not met. */
  async #reject(
    image: PolicyImage,
    { requirements }: ScopedRequirements,
    context: EvaluationContext,
  ): Promise<Rejection | undefined> {
    const { clock, env, userId } = this.#options
    const home = env['HOME']
    const keys = this.#keys
    const signatures = new ImageSignatures(image, { ...context, registriesD: this.#registriesD, home, userId })
    for (const requirement of requirements) {
      const reasons = await whyUnmet(requirement, { ...context, image, signatures, keys, now: clock.now() })
      if (reasons === undefined) continue
      const { place, line, type } = requirement
      return { digest: image.digest, place, line, type, reasons, file: this.#policy.file }
    }
    return undefined
  }
}

/** The error for an image that is not to be mirrored. */
export function policyRejected(image: Reference, verdict: Extract<Verdict, { accepted: false }>): KnownError {
  const [first] = verdict.rejections
  const name = formatReference(image)
  if (first === undefined) throw new Error('a rejection has its reason')
  const { file, line, place, type, reasons, digest } = first
  const others = verdict.rejections.length - 1
  const more = others === 0 ? '' : ` (and ${others} more of its manifests)`
  const found = type === 'reject' ? 'it rejects every image of this scope' : reasons.join('; ')
  const message = `${name} is rejected by ${file}:${line}: ${place} (${type}): ${found}${more}`
  return new KnownError('POLICY_REJECTED', message, {
    details: { image: name, digest, file, line, requirement: place, type },
  })
}
