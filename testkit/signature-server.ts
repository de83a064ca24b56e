/**
 * A signature store on loopback: `<store>/sha256=<hex>/signature-1`, `-2`, …, and 404 behind them.
 *
 *     const store = await startSignatureServer(t)
 *     store.publish(digest, await signRelease(signer, { digest }))
 *     store.fault({ path: /signature-1$/, times: 2, status: 503 })
 */
import type { Digest } from '../src/oci/digest.ts'
import type { Fault, RecordedRequest } from './scripted-fault.ts'
import { startScriptedWeb } from './scripted-web.ts'
import type { Cleanup } from './temp-dir.ts'

export interface SignatureServer {
  /** The base of the store, as OCP_SIGNATURE_URL names it. */
  readonly url: string
  readonly requests: RecordedRequest[]
  /** Puts signatures of a release there, behind those that it has. */
  publish(digest: Digest, ...signatures: readonly Uint8Array[]): void
  /** Makes requests that match go wrong, from now on: a status, another body, a cut. */
  fault(fault: Fault): void
  close(): Promise<void>
}

const base = '/pub/signatures/openshift/release'

export async function startSignatureServer(t: Cleanup): Promise<SignatureServer> {
  const web = await startScriptedWeb(t)
  const counts = new Map<Digest, number>()
  return {
    url: `${web.url}${base}`,
    requests: web.requests,
    publish: (digest, ...signatures) => {
      for (const bytes of signatures) {
        const number = (counts.get(digest) ?? 0) + 1
        counts.set(digest, number)
        web.files.set(`${base}/${digest.replace(':', '=')}/signature-${number}`, bytes)
      }
    },
    fault: (fault) => web.fault(fault),
    close: () => web.close(),
  }
}
