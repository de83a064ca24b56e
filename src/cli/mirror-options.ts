/** The options of `sallyport mirror`, for its three directions. */
import type { Command } from 'commander'
import { parseByteSize } from './byte-size.ts'
import { addOcMirrorOptions, type OcMirrorOptions } from './oc-mirror-options.ts'
import { type AccessOptions, addAccessOptions } from './registry-access.ts'

export interface MirrorOptions extends AccessOptions, OcMirrorOptions {
  config?: string
  workspace?: string
  from?: string
  dryRun?: boolean
  planOnly?: string | true
  plan?: string
  icsp?: boolean
  onFailure?: string
  retryFailed?: boolean
  /** Bytes. */
  archiveSize?: number
  base?: string
  receiptKey?: string
  full?: boolean
  for?: string
  signKey?: string
  verifyKey?: string
  sigstoreKey?: readonly string[]
  acceptOrder?: boolean
  repair?: string
}

export function addMirrorOptions(command: Command): Command {
  command
    .option('-c, --config <file>', 'ImageSetConfiguration: what to mirror; with --from: which part of the archive')
    .option('--workspace <dir>', 'where working-dir is kept: DIR or file://DIR (default: with the archive, or here)')
    .option('--from <dir>', 'load archives of this directory: DIR or file://DIR; also what oc-mirror v2 wrote')
    .option('--dry-run', 'print what would be moved, with bytes, mounts and what is there already; move nothing')
    .option('--plan-only [file]', 'print the plan as JSON, or write it to a file; move nothing')
    .option('--plan <file>', 'carry out this plan instead of making one')
    .option('--on-failure <policy>', 'CLASS=fail|warn|skip,… for release, operator, additional, helm (default: fail)')
    .option('--retry-failed', 'try only what the last run could not bring')
    .option(
      '--sigstore-key <file>',
      'public key (PEM) that must have signed each release with sigstore; several: any of them',
      (file, others: readonly string[]) => [...others, file],
      [],
    )
    .option('--icsp', 'also write an ImageContentSourcePolicy, for clusters before 4.13')
    .option('--archive-size <size>', 'to disk: size of a volume: 650MiB, 4GiB (default: archiveSize)', parseByteSize)
    .option('--base <receipt>', 'to disk: carry only what this receipt of the target does not name')
    .option('--receipt-key <file>', 'to disk: the public key that must have signed the receipt')
    .option('--full', 'to disk: carry everything, whatever the target holds')
    .option('--for <target>', 'to disk: HOST[:PORT]/PATH that this is for; no other target loads it')
    .option('--sign-key <file>', 'to disk: sign the archive with this private key')
    .option('--repair <file>', 'to disk: carry again what a repair list names (archive verify --repair-list)')
    .option('--verify-key <file>', 'from disk: the public key that must have signed the archive')
    .option('--accept-order', 'from disk: load also what is out of order, or was made for another target')
  return addOcMirrorOptions(addAccessOptions(command), 'mirror')
}

/** `--plan-only` moves nothing either, but prints something else. */
export function isDryRun({ dryRun, dryRunManifestLists }: MirrorOptions): boolean {
  return dryRun === true || dryRunManifestLists === true
}
