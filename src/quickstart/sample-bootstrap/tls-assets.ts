/**
 * The certificates and keys of `tls-plan.ts`, made: as real ones in all that a reader of them sees, but for their keys,
 * which are Ed25519 and follow from a seed. Whoever knows the seed knows the keys: for samples only.
 */
import { createHash, createPrivateKey, createPublicKey, webcrypto } from 'node:crypto'
import type { Extension, X509Certificate } from '@peculiar/x509'
import type { SampleCluster } from './bootstrap-options.ts'
import { type PlannedCertificate, plannedBundles, plannedCertificates } from './tls-plan.ts'

export interface SampleTlsOptions extends SampleCluster {
  readonly seed: string
  /** Milliseconds since the epoch: when the installer ran. All certificates begin then. */
  readonly notBefore: number
}

const algorithm = { name: 'Ed25519' }
/** RFC 8410 section 7: what stands before the 32 bytes of a private key. */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

type X509Library = typeof import('@peculiar/x509')

interface MadeCertificate {
  readonly certificate: X509Certificate
  readonly keys: SampleKeys
}

/** PEM by name: `root-ca.crt`, `root-ca.key`, …, bundles, and the keys of service accounts. */
export async function sampleTlsAssets(options: SampleTlsOptions): Promise<Readonly<Record<string, string>>> {
  const library = await loadLibrary()
  const made = new Map<string, MadeCertificate>()
  for (const planned of plannedCertificates(options)) {
    made.set(planned.name, await certify(library, planned, { options, signer: made.get(planned.signer ?? '') }))
  }
  const pem = (name: string) => `${made.get(name)?.certificate.toString('pem') ?? ''}\n`
  const pairs = plannedCertificates(options).flatMap(({ name, signer = '', hasSigner }) => [
    [`${name}.crt`, hasSigner === true ? pem(name) + pem(signer) : pem(name)] as const,
    [`${name}.key`, made.get(name)?.keys.privatePem ?? ''] as const,
  ])
  const bundles = plannedBundles.map(({ name, of }) => [`${name}.crt`, of.map(pem).join('')] as const)
  const serviceAccount = await sampleKeys(`${options.seed}/service-account`)
  return {
    ...Object.fromEntries([...pairs, ...bundles]),
    'service-account.key': serviceAccount.privatePem,
    'service-account.pub': serviceAccount.publicPem,
  }
}

interface Signing {
  readonly options: SampleTlsOptions
  readonly signer: MadeCertificate | undefined
}

async function certify(
  library: X509Library,
  planned: PlannedCertificate,
  { options, signer }: Signing,
): Promise<MadeCertificate> {
  const { name, subject, hours } = planned
  const keys = await sampleKeys(`${options.seed}/${name}`)
  const certificate = await library.X509CertificateGenerator.create({
    serialNumber: `4${createHash('sha256').update(`${options.seed}/serial/${name}`).digest('hex').slice(0, 15)}`,
    subject,
    issuer: signer?.certificate.subject ?? subject,
    notBefore: new Date(options.notBefore),
    notAfter: new Date(options.notBefore + hours * 60 * 60 * 1000),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: (signer?.keys ?? keys).privateKey,
    extensions: await extensionsOf(library, planned, { keys, signer }),
  })
  return { certificate, keys }
}

async function extensionsOf(
  x509: X509Library,
  { isAuthority = false, hosts = [], usages = [] }: PlannedCertificate,
  { keys, signer }: { readonly keys: SampleKeys; readonly signer: MadeCertificate | undefined },
): Promise<Extension[]> {
  const { keyEncipherment, digitalSignature, keyCertSign } = x509.KeyUsageFlags
  const extended = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth }
  const names = hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const), value }))
  return [
    new x509.BasicConstraintsExtension(isAuthority, undefined, true),
    new x509.KeyUsagesExtension(keyEncipherment | digitalSignature | (isAuthority ? keyCertSign : 0), true),
    ...(usages.length > 0 ? [new x509.ExtendedKeyUsageExtension(usages.map((usage) => extended[usage]))] : []),
    ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ...(signer === undefined ? [] : [await x509.AuthorityKeyIdentifierExtension.create(signer.keys.publicKey)]),
  ]
}

interface SampleKeys {
  readonly privateKey: webcrypto.CryptoKey
  readonly publicKey: webcrypto.CryptoKey
  readonly privatePem: string
  readonly publicPem: string
}

async function sampleKeys(seed: string): Promise<SampleKeys> {
  const der = Buffer.concat([keyPrefix, createHash('sha256').update(seed).digest()])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key)
  const publicDer = publicKey.export({ format: 'der', type: 'spki' })
  return {
    privateKey: await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', publicDer, algorithm, true, ['verify']),
    privatePem: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
    publicPem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  }
}

/** Loaded on demand: it takes longer to load than everything else in a quickstart's start. */
async function loadLibrary(): Promise<X509Library> {
  await import('reflect-metadata')
  const library = await import('@peculiar/x509')
  library.cryptoProvider.set(webcrypto as Crypto)
  return library
}
