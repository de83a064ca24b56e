/**
 * What a `sigstoreSigned` requirement trusts: keys, or certificates, and beside them logs that must know the signature.
 *
 * Source: containers/image `signature/policy_eval_sigstore.go:isSignatureAccepted`.
 */
import { KnownError } from '../errors/known-error.ts'
import { type ByteSource, readByteSource } from './policy-bytes.ts'
import type { SigstoreRequirement } from './policy-requirement.ts'
import { RekorFault, spkiOf, verifyRekorSet } from './rekor-set.ts'
import { checkedKey, parseSigstoreKey, type SigstoreKey } from './sigstore-key.ts'
import { SigstoreFault, type SigstoreSignature, signatureBytes, sigstoreAnnotations } from './sigstore-signature.ts'

export interface TrustRoot {
  /**
   * The keys that may have made this signature.
   *
   * @param now milliseconds since the epoch
   * @throws SigstoreFault where log or certificate speak against it
   */
  keysFor(signature: SigstoreSignature, now: number): Promise<readonly SigstoreKey[]>
}

/**
 * Every key is read, so that a broken one is noticed before it is needed.
 *
 * @throws KnownError FILE_UNREADABLE, KEY_INVALID
 */
export async function loadTrustRoot(requirement: SigstoreRequirement): Promise<TrustRoot> {
  const { keys, fulcio, pki, rekorKeys, place } = requirement
  const logs = rekorKeys && (await readKeys(rekorKeys, place))
  for (const { key, origin } of logs ?? []) {
    if (key.asymmetricKeyType !== 'ec') throw new KnownError('KEY_INVALID', `${origin}: the key of a log must be ECDSA`)
  }
  if (keys !== undefined) {
    const own = await readKeys(keys, place)
    return { keysFor: async (signature) => (logs === undefined ? own : [loggedKey(signature, own, logs)]) }
  }
  if (fulcio !== undefined) {
    const roots = await readText(fulcio.ca)
    return {
      keysFor: async (signature) => {
        const { verifyFulcio, certificateDer } = await loadCertificates()
        return withCertificate(signature, (certificate, chain) => {
          const signer = certificateDer(certificate)
          const time = logged(signature, signer, logs ?? [])
          return verifyFulcio({ certificate, chain, roots, time }, fulcio)
        })
      },
    }
  }
  if (pki === undefined) throw new Error('a sigstoreSigned requirement trusts something')
  const roots = await readText(pki.roots)
  const intermediates = pki.intermediates && (await readText(pki.intermediates))
  return {
    keysFor: async (signature, now) => {
      const { verifyPki } = await loadCertificates()
      const time = new Date(now)
      return withCertificate(signature, (certificate, chain) =>
        verifyPki({ certificate, chain, roots, intermediates, time }, pki),
      )
    },
  }
}

/** Loaded when a policy asks for certificates: the parser of X.509 slows every start otherwise. */
function loadCertificates(): Promise<typeof import('./fulcio.ts')> {
  return import('./fulcio.ts')
}

async function withCertificate(
  { annotations, origin }: SigstoreSignature,
  verify: (certificate: string, chain: string | undefined) => SigstoreKey['key'],
): Promise<readonly SigstoreKey[]> {
  const { CertificateFault } = await loadCertificates()
  const certificate = annotations[sigstoreAnnotations.certificate]
  if (certificate === undefined)
    throw new SigstoreFault('certificate', `${origin} lacks the annotation ${sigstoreAnnotations.certificate}`)
  try {
    return [checkedKey(verify(certificate, annotations[sigstoreAnnotations.chain]), `the certificate of ${origin}`)]
  } catch (error) {
    if (error instanceof CertificateFault) throw new SigstoreFault('certificate', `${origin}: ${error.message}`)
    if (error instanceof KnownError) throw new SigstoreFault('unsupported', error.message)
    throw error
  }
}

/** Of `keys`, the one that the log knows as the maker of this signature. */
function loggedKey(
  signature: SigstoreSignature,
  keys: readonly SigstoreKey[],
  logs: readonly SigstoreKey[],
): SigstoreKey {
  const faults: SigstoreFault[] = []
  for (const key of keys) {
    try {
      logged(signature, spkiOf(key.key), logs)
      return key
    } catch (error) {
      if (!(error instanceof SigstoreFault)) throw error
      faults.push(error)
    }
  }
  throw faults[0] ?? new SigstoreFault('log', `${signature.origin}: there is no key to look for in the log`)
}

/** When the log took the signature in. */
function logged(signature: SigstoreSignature, signer: Uint8Array, keys: readonly SigstoreKey[]): Date {
  const { annotations, origin, payload } = signature
  const set = annotations[sigstoreAnnotations.bundle]
  if (set === undefined) throw new SigstoreFault('log', `${origin} lacks the annotation ${sigstoreAnnotations.bundle}`)
  try {
    return verifyRekorSet({ set, keys, signer, payload, signature: signatureBytes(signature) })
  } catch (error) {
    if (!(error instanceof RekorFault)) throw error
    throw new SigstoreFault('log', `${origin}: ${error.message}`)
  }
}

async function readKeys(source: ByteSource, place: string): Promise<readonly SigstoreKey[]> {
  const texts = await readByteSource(source)
  return texts.map((pem, index) => {
    const origin = source.kind === 'paths' ? (source.paths[index] ?? place) : `${place}, key ${index + 1}`
    return parseSigstoreKey(pem, origin)
  })
}

async function readText(source: ByteSource): Promise<string> {
  const parts = await readByteSource(source)
  return parts.map((part) => new TextDecoder().decode(part)).join('\n')
}
