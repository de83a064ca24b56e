/** The keys of a policy, read when an image first needs them, and then kept: a mirror asks thousands of times. */
import { type Keyring, loadKeys } from './openpgp-keys.ts'
import { readByteSource } from './policy-bytes.ts'
import type { SignedByRequirement, SigstoreRequirement } from './policy-requirement.ts'
import { loadTrustRoot, type TrustRoot } from './sigstore-trust.ts'

export class PolicyKeys {
  readonly #keyrings = new Map<SignedByRequirement, Promise<Keyring>>()
  readonly #trustRoots = new Map<SigstoreRequirement, Promise<TrustRoot>>()

  /** @throws KnownError FILE_UNREADABLE, KEY_INVALID */
  keyringOf(requirement: SignedByRequirement): Promise<Keyring> {
    const known = this.#keyrings.get(requirement) ?? readKeyring(requirement)
    this.#keyrings.set(requirement, known)
    return known
  }

  /** @throws KnownError FILE_UNREADABLE, KEY_INVALID */
  trustRootOf(requirement: SigstoreRequirement): Promise<TrustRoot> {
    const known = this.#trustRoots.get(requirement) ?? loadTrustRoot(requirement)
    this.#trustRoots.set(requirement, known)
    return known
  }
}

async function readKeyring({ keys, place }: SignedByRequirement): Promise<Keyring> {
  const contents = await readByteSource(keys)
  const originOf = (index: number) =>
    keys.kind === 'paths' ? (keys.paths[index] ?? place) : `${place}, key ${index + 1}`
  return loadKeys(contents.map((content, index) => ({ content, origin: originOf(index) })))
}
