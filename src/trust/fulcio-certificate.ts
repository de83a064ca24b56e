/** An X.509 certificate with the questions that are asked of one that signs code. */
import 'reflect-metadata'
import { X509Certificate } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate as PeculiarCertificate,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509'

const oids = {
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  nameConstraints: '2.5.29.30',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  anyUsage: '2.5.29.37.0',
  /** sigstore/fulcio `docs/oid-info.md`: the issuer as bare text, and as a DER UTF8String. */
  oidcIssuer: '1.3.6.1.4.1.57264.1.1',
  oidcIssuerV2: '1.3.6.1.4.1.57264.1.8',
} as const

const understood: readonly string[] = [
  oids.subjectAlternativeName,
  oids.basicConstraints,
  oids.keyUsage,
  oids.extendedKeyUsage,
]

const weakHashes = ['SHA-1', 'MD5']

/** Every certificate of a PEM text, in order. Throws where one cannot be read. */
export function parseCertificates(pem: string): readonly ParsedCertificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new ParsedCertificate(block))
}

export class ParsedCertificate {
  readonly x509: X509Certificate
  readonly #parsed: PeculiarCertificate

  constructor(pem: string) {
    this.x509 = new X509Certificate(pem)
    this.#parsed = new PeculiarCertificate(pem)
  }

  isIssuedBy(issuer: ParsedCertificate): boolean {
    const { hash } = this.#parsed.signatureAlgorithm as { hash?: { name?: string } }
    if (weakHashes.includes(hash?.name ?? '')) return false
    return this.x509.checkIssued(issuer.x509) && this.x509.verify(issuer.x509.publicKey)
  }

  isAuthority(): boolean {
    const usage = this.#parsed.getExtension(KeyUsagesExtension)
    const maySign = usage === null || (usage.usages & KeyUsageFlags.keyCertSign) !== 0
    return this.#parsed.getExtension(BasicConstraintsExtension)?.ca === true && maySign
  }

  pathLength(): number | undefined {
    return this.#parsed.getExtension(BasicConstraintsExtension)?.pathLength
  }

  /** A certificate that names no extended use may be used for all. */
  mayServeCodeSigning(): boolean {
    const usage = this.#parsed.getExtension(ExtendedKeyUsageExtension)
    return usage === null || usage.usages.some((one) => one === oids.codeSigning || one === oids.anyUsage)
  }

  emails(): readonly string[] {
    const names = this.#parsed.getExtension(SubjectAlternativeNameExtension)?.names.items ?? []
    return names.filter(({ type }) => type === 'email').map(({ value }) => value)
  }

  /** Who told Fulcio who this is; undefined also where its two spellings contradict each other. */
  oidcIssuer(): string | undefined {
    const old = this.#extensionBytes(oids.oidcIssuer)
    const bare = old && new TextDecoder().decode(old)
    const current = this.#extensionBytes(oids.oidcIssuerV2)
    const text = current && derText(current)
    if (bare !== undefined && current !== undefined && bare !== text) return undefined
    return current === undefined ? bare : text
  }

  /** Name constraints restrict what a certificate may say, critical or not, and are not understood here. */
  unknownCriticalExtension(): string | undefined {
    const unknown = this.#parsed.extensions.find(
      ({ type, critical }) => type === oids.nameConstraints || (critical && !understood.includes(type)),
    )
    return unknown?.type
  }

  #extensionBytes(type: string): Uint8Array | undefined {
    const found = this.#parsed.extensions.filter((one) => one.type === type)
    const [only] = found
    return only && found.length === 1 ? new Uint8Array(only.value) : undefined
  }
}

/** A UTF8String, PrintableString or IA5String of at most 65,535 bytes (X.690, 8.1.3); undefined for anything else. */
function derText(der: Uint8Array): string | undefined {
  const [tag, first = 0] = der
  if (tag === undefined || ![0x0c, 0x13, 0x16].includes(tag)) return undefined
  const lengthBytes = first < 0x80 ? 0 : first - 0x80
  if (lengthBytes > 2) return undefined
  const length = lengthBytes === 0 ? first : der.subarray(2, 2 + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0)
  const value = der.subarray(2 + lengthBytes)
  return value.byteLength === length ? new TextDecoder().decode(value) : undefined
}
