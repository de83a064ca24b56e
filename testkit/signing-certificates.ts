/** Certificates that sign images, as Fulcio gives them out, and the authorities above them. */
import 'reflect-metadata'
import { KeyObject, webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { SigningKey } from './sigstore-signing.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const codeSigning = '1.3.6.1.5.5.7.3.3'

export interface SigningAuthority {
  readonly pem: string
  readonly name: string
  readonly keys: webcrypto.CryptoKeyPair
}

export interface AuthorityOptions {
  readonly name: string
  /** Absent for a root. */
  readonly parent?: SigningAuthority
  /** Default: an authority. */
  readonly isAuthority?: boolean
  readonly pathLength?: number
  readonly notAfter?: Date
}

export async function makeAuthority(options: AuthorityOptions): Promise<SigningAuthority> {
  const { parent, isAuthority = true, pathLength, notAfter = new Date('2099-01-01') } = options
  const keys = await newKeys()
  const name = `CN=${options.name}`
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serialOf(options.name),
      subject: name,
      issuer: parent?.name ?? name,
      notBefore: new Date('2020-01-01'),
      notAfter,
      publicKey: keys.publicKey,
      signingKey: (parent?.keys ?? keys).privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(isAuthority, pathLength, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    webcrypto as Crypto,
  )
  return { pem: certificate.toString('pem'), name, keys }
}

export interface SigningCertificateOptions {
  readonly authority: SigningAuthority
  readonly email?: string
  readonly host?: string
  /** The OIDC issuer, in both spellings of Fulcio. */
  readonly issuer?: string
  /** The same in the old spelling alone, where it is another. */
  readonly oldIssuer?: string
  readonly notBefore?: Date
  readonly notAfter?: Date
  /** Default: code signing. */
  readonly usage?: string
  /** An extension that nobody knows. */
  readonly unknownCritical?: boolean
}

export interface CertifiedKey {
  /** PEM. */
  readonly certificate: string
  readonly key: SigningKey
}

/** A certificate of this authority, and the key in it. Default: valid in the hour around 1,700,000,000 s. */
export async function makeSigningCertificate(options: SigningCertificateOptions): Promise<CertifiedKey> {
  const { authority, email, host, issuer, oldIssuer = issuer, usage = codeSigning } = options
  const keys = await newKeys()
  const text = (value: string) => new TextEncoder().encode(value)
  const names = [
    ...(email === undefined ? [] : [{ type: 'email' as const, value: email }]),
    ...(host === undefined ? [] : [{ type: 'dns' as const, value: host }]),
  ]
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serialOf(JSON.stringify(names)),
      subject: '',
      issuer: authority.name,
      notBefore: options.notBefore ?? new Date(1_699_998_000_000),
      notAfter: options.notAfter ?? new Date(1_700_002_000_000),
      publicKey: keys.publicKey,
      signingKey: authority.keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([usage]),
        new SubjectAlternativeNameExtension(names, true),
        ...(oldIssuer === undefined ? [] : [new Extension('1.3.6.1.4.1.57264.1.1', false, text(oldIssuer))]),
        ...(issuer === undefined
          ? []
          : [new Extension('1.3.6.1.4.1.57264.1.8', false, Buffer.from([0x0c, issuer.length, ...text(issuer)]))]),
        ...(options.unknownCritical === true ? [new Extension('1.2.3.4', true, Buffer.from([5, 0]))] : []),
      ],
    },
    webcrypto as Crypto,
  )
  const privateKey = KeyObject.from(keys.privateKey)
  const publicPem = KeyObject.from(keys.publicKey).export({ type: 'spki', format: 'pem' }).toString()
  return { certificate: certificate.toString('pem'), key: { privateKey, publicPem } }
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
}

function serialOf(text: string): string {
  return Buffer.from(text).toString('hex').slice(0, 16)
}
