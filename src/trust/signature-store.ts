/** The stores that signatures of releases are published in (containers/image `docs/signature-protocols.md`). */
import { stat } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { algorithmOf, type Digest, hexOf } from '../oci/digest.ts'
import type { WebClient, WebDocument } from '../remote/web-client.ts'
import type { ReleaseSignature, SignatureSource } from './signature-source.ts'

/** Where Red Hat publishes signatures: the stores that the version operator of a cluster knows, in the `cluster-update-keys` of a release. */
const officialStores = [
  'https://mirror.openshift.com/pub/openshift-v4/signatures/openshift/release',
  'https://storage.googleapis.com/openshift-release/official/signatures/openshift/release',
]

/** A store that never says 404 must not be asked without end. The version operator reads nine. */
const maxSignatures = 20
/** As much as the version operator reads of one (openshift/library-go `pkg/verify/store/sigstore/sigstore.go`). */
const maxSignatureBytes = 50 * 1024
/** What stores of objects say of one that is not there, to somebody who may not list them. */
const hiddenStatus = 403

/**
 * @param override OCP_SIGNATURE_URL: a URL with http, https or file, or the path of a directory, with or without a slash at its end; it stands for all
 * @throws KnownError USAGE
 */
export function signatureStores(override?: string): URL[] {
  if (override === undefined || override === '') return officialStores.map((store) => new URL(store))
  const url = override.startsWith('/') ? pathToFileURL(override) : URL.parse(override)
  if (url !== null && ['http:', 'https:', 'file:'].includes(url.protocol)) return [url]
  throw new KnownError('USAGE', `OCP_SIGNATURE_URL is "${override}": not a URL of a signature store`, {
    details: { url: override },
    hint: 'Write it as https://HOST/PATH, or file:///DIR; below it stands sha256=HEX/signature-1.',
  })
}

/** One store after the other, until one has signatures of a release. */
export class SignatureStore implements SignatureSource {
  readonly #client: Pick<WebClient, 'read'>
  readonly #stores: readonly URL[]
  /** Those that gave no answer before: they are asked last, so that one firewall costs its time once. */
  readonly #silent = new Set<URL>()

  constructor({ client, stores }: { readonly client: Pick<WebClient, 'read'>; readonly stores: readonly URL[] }) {
    this.#client = client
    this.#stores = stores
  }

  async readSignatures(digest: Digest, signal: AbortSignal): Promise<readonly ReleaseSignature[]> {
    const failures: KnownError[] = []
    const inOrder = this.#stores.toSorted(
      (one, other) => Number(this.#silent.has(one)) - Number(this.#silent.has(other)),
    )
    for (const store of inOrder) {
      try {
        const signatures = await this.#readStore(store, digest, signal)
        if (signatures.length > 0) return signatures
      } catch (error) {
        if (!isNoAnswer(error)) throw error
        this.#silent.add(store)
        failures.push(error)
      }
    }
    // Where one of two says "none" and the other nothing, there may be one.
    if (failures.length > 0) throw unavailable(digest, failures)
    return []
  }

  async #readStore(store: URL, digest: Digest, signal: AbortSignal): Promise<ReleaseSignature[]> {
    if (store.protocol === 'file:') await requireDirectory(store)
    const found: ReleaseSignature[] = []
    for (let number = 1; number <= maxSignatures; number += 1) {
      const document = await this.#readOne(signatureUrl(store, digest, number), { digest, number, signal })
      if (document === undefined) break
      found.push({ number, bytes: document.bytes })
    }
    return found
  }

  async #readOne(
    url: URL,
    { digest, number, signal }: { readonly digest: Digest; readonly number: number; readonly signal: AbortSignal },
  ): Promise<WebDocument | undefined> {
    const what = `signature ${number} of ${digest}`
    const options = { what, signal, maxBytes: maxSignatureBytes, isFileAllowed: true }
    try {
      const document = await this.#client.read(url, options)
      if (document !== undefined && number === 1) refusePage(document, url, what)
      return document
    } catch (error) {
      if (number > 1 && isNoAnswer(error) && error.details['status'] === hiddenStatus) return undefined
      throw error
    }
  }
}

function signatureUrl(store: URL, digest: Digest, number: number): URL {
  const url = new URL(store)
  url.pathname = `${store.pathname.replace(/\/+$/, '')}/${algorithmOf(digest)}=${hexOf(digest)}/signature-${number}`
  return url
}

/** Portals and proxies answer everything with a page, and with status 200. */
function refusePage({ bytes, contentType }: WebDocument, { origin, pathname }: URL, what: string): void {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1').trimStart()
  if (!/^<(?:!doctype|html|\?xml|head|body)/i.test(start) && !contentType.startsWith('text/html')) return
  throw new KnownError('WEB_INVALID', `${what}: GET ${origin}${pathname} answered with a page, not with a signature`, {
    details: { path: pathname },
  })
}

async function requireDirectory(store: URL): Promise<void> {
  const path = fileURLToPath(store)
  try {
    if ((await stat(path)).isDirectory()) return
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES')) throw cause
  }
  throw new KnownError('FILE_UNREADABLE', `${path} is not a directory that can be read`, { details: { file: path } })
}

function isNoAnswer(error: unknown): error is KnownError {
  return error instanceof KnownError && (error.code.startsWith('WEB_') || error.code === 'FILE_UNREADABLE')
}

function unavailable(digest: Digest, failures: readonly KnownError[]): KnownError {
  const [first] = failures
  const reasons = failures.map(({ message }) => message).join('; ')
  return new KnownError('SIGNATURE_UNAVAILABLE', `Whether ${digest} is signed cannot be found out: ${reasons}`, {
    details: { digest, host: first?.details['host'], status: first?.details['status'] },
    retryable: failures.some(({ retryable }) => retryable),
    cause: first,
  })
}
