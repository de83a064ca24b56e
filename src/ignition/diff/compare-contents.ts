/** The bytes of two files compared: text line by line, certificates by what they certify, everything else by size and hash. */
import { createHash, X509Certificate } from 'node:crypto'
import { textOf } from '../redact/opened-bytes.ts'
import { Redactor } from '../redact/redactor.ts'
import { SecretLedger } from '../redact/secret-ledger.ts'
import { secretKind, secretKindOfPath } from '../secret-files.ts'
import { type Detail, setDetails } from './difference.ts'
import { unifiedDiff } from './text-diff.ts'

/** One for both sides of a comparison: the same secret has the same marker on both. */
export class ContentsComparison {
  readonly #redactor = new Redactor(new SecretLedger(), { isSweep: false })

  /** @param path where it is on the machine; empty for what is no file */
  details(field: string, path: string, [before, after]: readonly [Uint8Array, Uint8Array]): readonly Detail[] {
    if (Buffer.compare(before, after) === 0) return []
    const [old, own] = [textOf(before), textOf(after)]
    const isSecret = (text: string | undefined) =>
      text === undefined ? secretKindOfPath(path) !== undefined : secretKind(path, text) !== undefined
    if (isSecret(old) || isSecret(own)) return [{ field, isSecret: true }]
    if (old === undefined || own === undefined) return [{ field, before: described(before), after: described(after) }]
    const details = this.textDetails(field, withoutCertificates(old), withoutCertificates(own))
    const certificates = setDetails('certificate', certificatesIn(old), certificatesIn(own))
    if (details.length + certificates.length > 0) return [...certificates, ...details]
    // The same certificates in another order, or with other line ends.
    return [{ field, before: described(before), after: described(after) }]
  }

  /** Lines of a text without its secrets; where those alone differ, that. */
  textDetails(field: string, before: string, after: string): readonly Detail[] {
    if (before === after) return []
    const lines = unifiedDiff(this.shown(before), this.shown(after))
    return lines.length > 0 ? [{ field, lines }] : [{ field, isSecret: true }]
  }

  /** What may be printed of a text. */
  shown(text: string): string {
    return this.#redactor.text(text, '')
  }
}

/** `17 bytes, sha256 0123456789ab…` */
export function described(bytes: Uint8Array): string {
  const hash = createHash('sha256').update(bytes).digest('hex')
  return `${bytes.byteLength} bytes, sha256 ${hash.slice(0, 12)}…`
}

const pem = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** `CN=root-ca, until 2036-01-31`, with a part of its fingerprint. */
export function certificatesIn(text: string): readonly string[] {
  return [...text.matchAll(pem)].map(([block]) => {
    try {
      // In YAML its lines are indented.
      const { subject, validTo, fingerprint256 } = new X509Certificate(block.replace(/^[ \t]+/gm, ''))
      const name = subject === undefined || subject === '' ? 'no subject' : subject.split('\n').join(', ')
      const until = new Date(validTo).toISOString().slice(0, 16)
      return `${name}, until ${until}Z, ${fingerprint256.slice(0, 17)}…`
    } catch {
      return 'one that cannot be read'
    }
  })
}

function withoutCertificates(text: string): string {
  return text.replace(pem, '-----CERTIFICATE-----')
}
