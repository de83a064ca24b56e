/**
 * A certificate authority and a server certificate for a registry that nobody gave one.
 *
 * Both are kept under ROOT/tls and used again: clients trust `ca.crt` once. The authority lasts ten years, the server
 * certificate is made anew when a name is missing from it or when it has less than a month to go.
 *
 *   tls/ca.crt  tls/ca.key  tls/server.crt  tls/server.key     PEM, the keys for the owner alone
 */
import { X509Certificate as ParsedCertificate, webcrypto } from 'node:crypto'
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { X509Certificate } from '@peculiar/x509'
import type { Clock } from '../host/clock.ts'
import { randomId } from '../host/random.ts'
import { privateDirectory, privateFile } from '../store/file-modes.ts'
import { readText } from '../store/files.ts'

export interface SelfSignedOptions {
  /** Directory of the store. */
  readonly root: string
  /** Host names and IP addresses that clients use. */
  readonly hosts: readonly string[]
  readonly clock: Clock
}

export interface ServerCertificate {
  /** PEM: the server's certificate and the authority's. */
  readonly certificate: string
  readonly key: string
  /** What clients have to trust. */
  readonly caFile: string
  /** True where clients have to be given `caFile` (again). */
  readonly isNewAuthority: boolean
}

const day = 24 * 60 * 60 * 1000
const authorityDays = 3650
/** Apple and Chromium refuse server certificates of more than 398 days, also from private authorities. */
const serverDays = 397
const renewBeforeDays = 30
const signing = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

type X509Library = typeof import('@peculiar/x509')

/** The certificate kept under ROOT/tls, made or renewed where that is needed. */
export async function selfSignedCertificate(options: SelfSignedOptions): Promise<ServerCertificate> {
  const directory = join(options.root, 'tls')
  const path = (name: string) => join(directory, name)
  const kept = {
    authority: readText(path('ca.crt')),
    authorityKey: readText(path('ca.key')),
    certificate: readText(path('server.crt')),
    key: readText(path('server.key')),
  }
  const { authority, authorityKey, certificate, key } = kept
  const hosts = [...new Set(options.hosts)].sort()
  const isAuthorityGood = authority !== undefined && authorityKey !== undefined && isFresh(authority, options.clock)
  if (isAuthorityGood && certificate && key && isGood(certificate, { authority, hosts, clock: options.clock }))
    return { certificate: certificate + authority, key, caFile: path('ca.crt'), isNewAuthority: false }

  const library = await loadLibrary()
  const ca = isAuthorityGood
    ? await readAuthority(library, authority, authorityKey)
    : await makeAuthority(library, options.clock)
  const server = await makeServerCertificate(library, ca, { hosts, clock: options.clock })
  mkdirSync(directory, { recursive: true, mode: privateDirectory })
  if (!isAuthorityGood) {
    replace(path('ca.key'), await exportKey(library, ca.keys.privateKey), privateFile)
    replace(path('ca.crt'), `${ca.certificate.toString('pem')}\n`, 0o644)
  }
  replace(path('server.key'), server.key, privateFile)
  replace(path('server.crt'), server.certificate, 0o644)
  return {
    certificate: `${server.certificate}${ca.certificate.toString('pem')}\n`,
    key: server.key,
    caFile: path('ca.crt'),
    isNewAuthority: !isAuthorityGood,
  }
}

function isFresh(pem: string, clock: Clock): boolean {
  return Date.parse(new ParsedCertificate(pem).validTo) - clock.now() > renewBeforeDays * day
}

interface Wanted {
  readonly authority: string
  readonly hosts: readonly string[]
  readonly clock: Clock
}

function isGood(pem: string, { authority, hosts, clock }: Wanted): boolean {
  const certificate = new ParsedCertificate(pem)
  const covers = (host: string) =>
    isIP(host) === 0 ? certificate.checkHost(host) !== undefined : certificate.checkIP(host) !== undefined
  return isFresh(pem, clock) && certificate.verify(new ParsedCertificate(authority).publicKey) && hosts.every(covers)
}

/** Loaded on demand: it takes longer to load than everything else in the registry together. */
async function loadLibrary(): Promise<X509Library> {
  await import('reflect-metadata')
  const library = await import('@peculiar/x509')
  library.cryptoProvider.set(webcrypto as Crypto)
  return library
}

interface Authority {
  readonly certificate: X509Certificate
  readonly keys: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey }
}

async function makeAuthority({ X509CertificateGenerator, ...x509 }: X509Library, clock: Clock): Promise<Authority> {
  const keys = (await webcrypto.subtle.generateKey(signing, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    // The name tells authorities of several registries apart in a trust store.
    name: `CN=Sallyport registry CA ${randomId().slice(0, 8)}`,
    ...validity(clock, authorityDays),
    signingAlgorithm: signing,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate, keys }
}

async function readAuthority(library: X509Library, pem: string, keyPem: string): Promise<Authority> {
  const certificate = new library.X509Certificate(pem)
  const privateKey = await webcrypto.subtle.importKey(
    'pkcs8',
    library.PemConverter.decodeFirst(keyPem),
    signing,
    false,
    ['sign'],
  )
  return { certificate, keys: { privateKey, publicKey: await certificate.publicKey.export() } }
}

async function makeServerCertificate(
  x509: X509Library,
  authority: Authority,
  { hosts, clock }: { hosts: readonly string[]; clock: Clock },
): Promise<{ certificate: string; key: string }> {
  const keys = (await webcrypto.subtle.generateKey(signing, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: 'CN=Sallyport registry',
    issuer: authority.certificate.subject,
    ...validity(clock, serverDays),
    signingAlgorithm: signing,
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(authority.keys.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: `${certificate.toString('pem')}\n`, key: await exportKey(x509, keys.privateKey) }
}

function validity(clock: Clock, days: number): { notBefore: Date; notAfter: Date } {
  // A day back, because the clocks of machines without a time server are rarely together.
  return { notBefore: new Date(clock.now() - day), notAfter: new Date(clock.now() + days * day) }
}

/** Positive and of full length, as RFC 5280 section 4.1.2.2 wants it. */
function serialNumber(): string {
  return `4${randomId().slice(1)}`
}

async function exportKey({ PemConverter }: X509Library, key: CryptoKey): Promise<string> {
  return `${PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`
}

function replace(path: string, text: string, mode: number): void {
  const staged = `${path}.${randomId()}`
  writeFileSync(staged, text, { mode, flag: 'wx', flush: true })
  chmodSync(staged, mode)
  renameSync(staged, path)
}
