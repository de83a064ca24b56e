/** Authorities and certificates for servers of a test, with whatever may be wrong with them. */
import 'reflect-metadata'
import { KeyObject, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const hourMs = 60 * 60 * 1000

export interface SiteCertificateOptions {
  /** Host names and addresses; none: no subjectAltName at all. */
  readonly hosts: readonly string[]
  /** Default: `site`. */
  readonly commonName?: string
  /** Milliseconds since the epoch. Default: an hour ago, and in a year. */
  readonly notBefore?: number
  readonly notAfter?: number
}

export interface SiteCertificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

export interface SiteAuthority {
  /** PEM of its own certificate. */
  readonly pem: string
  /** A certificate for a server; the chain above it is not in it. */
  issue(options: SiteCertificateOptions): Promise<SiteCertificate>
  /** An authority that this one vouches for. */
  subordinate(name: string): Promise<SiteAuthority>
}

interface AuthorityOptions {
  /** Milliseconds since the epoch: what is valid is valid around it. */
  readonly now: number
  readonly name: string
}

export function makeSiteAuthority(options: AuthorityOptions): Promise<SiteAuthority> {
  return makeAuthority(options, undefined)
}

async function makeAuthority({ now, name }: AuthorityOptions, parent: Issuer | undefined): Promise<SiteAuthority> {
  const keys = await newKeys()
  const own = await X509CertificateGenerator.create({
    serialNumber: serialOf(name),
    subject: `CN=${name}`,
    issuer: parent?.name ?? `CN=${name}`,
    publicKey: keys.publicKey,
    signingKey: parent?.key ?? keys.privateKey,
    notBefore: new Date(now - hourMs),
    notAfter: new Date(now + 10 * 365 * 24 * hourMs),
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  })
  const issuer = { name: `CN=${name}`, key: keys.privateKey, now }
  return {
    pem: `${own.toString('pem')}\n`,
    issue: (options) => issue(issuer, options),
    subordinate: (below) => makeAuthority({ now, name: below }, issuer),
  }
}

interface Issuer {
  readonly name: string
  readonly key: webcrypto.CryptoKey
  readonly now: number
}

async function issue({ name, key, now }: Issuer, options: SiteCertificateOptions): Promise<SiteCertificate> {
  const { hosts, commonName = 'site', notBefore = now - hourMs, notAfter = now + 365 * 24 * hourMs } = options
  const keys = await newKeys()
  const names = hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }))
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialOf(`${commonName}/${hosts.join('/')}`),
    subject: `CN=${commonName}`,
    issuer: name,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: key,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
    ],
  })
  const pkcs8 = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
  return { cert: `${certificate.toString('pem')}\n`, key: pkcs8 }
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
}

function serialOf(text: string): string {
  return `4${Buffer.from(text).toString('hex').slice(0, 15)}`
}
