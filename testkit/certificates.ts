import { readFile } from 'node:fs/promises'
import { systemClock } from '../src/host/clock.ts'
import { selfSignedCertificate } from '../src/registry/certificate.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

export interface TestCertificate {
  readonly tls: { readonly key: string; readonly cert: string }
  /** PEM of the authority that clients have to trust. */
  readonly ca: string
}

/** A certificate for these names and addresses, from an authority that nobody knows. */
export async function testCertificate(t: Cleanup, hosts: readonly string[] = ['127.0.0.1']): Promise<TestCertificate> {
  const made = await selfSignedCertificate({ root: await tempDir(t), hosts, clock: systemClock })
  return { tls: { key: made.key, cert: made.certificate }, ca: await readFile(made.caFile, 'utf8') }
}
