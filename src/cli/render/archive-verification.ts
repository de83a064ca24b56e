/** What a verification of an archive found, for people and for programs. */
import { join } from 'node:path'
import type { ArchiveVerification } from '../../archive/verify/verify-archive.ts'
import { renderFindings } from './findings.ts'
import { count, formatBytes } from './quantities.ts'

const signatures: Readonly<Record<ArchiveVerification['signature'], string>> = {
  none: 'not signed',
  'not checked': 'signed; whose signature it is, --verify-key tells',
  valid: 'signed by the given key',
  wrong: 'the signature is wrong',
}

export function renderVerification(verification: ArchiveVerification): string {
  const { found, archive, bytes, findings, signature, damage } = verification
  const name = `archive ${found.sequence}${found.isRepair ? ' (repair)' : ''}, ${join(found.directory, found.stem)}`
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const read = `${count(found.volumes.length, 'volume')}, ${formatBytes(bytes)} read`
  const ending = `; ${signatures[signature]}`
  const whole =
    damage.ranges.length > 0
      ? `repaired: ${name}: a repair beside it has what is damaged (${read})${ending}`
      : `whole: ${name}: every byte is as it was written (${read})${ending}`
  const verdict =
    errors === 0
      ? whole
      : `damaged: ${name}: ${count(errors, 'finding')} (${archive ? read : 'the index cannot be read'})${archive ? ending : ''}`
  return `${verdict}\n${findings.length > 0 ? `\n${renderFindings(findings)}` : ''}`
}

export function verificationJson({ found, archive, bytes, findings, signature, damage }: ArchiveVerification): object {
  const { stem, sequence, directory } = found
  return { stem, sequence, directory, id: archive?.id, bytes, signature, findings, damage }
}
