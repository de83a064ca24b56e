import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { loadSigningKey } from '../../archive/format/signature.ts'
import { splitReceipt } from '../../archive/history/receipt-file.ts'
import { KnownError } from '../../errors/known-error.ts'
import { type MadeReceipt, makeReceipt } from '../../flows/make-receipt.ts'
import { parseMirrorTarget } from '../../mirror/destination.ts'
import { withMaxNestedPaths } from '../../mirror/nested-paths.ts'
import { workspaceAt, writeWhole } from '../../mirror/workspace.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { type AccessOptions, addAccessOptions, openRegistries } from '../registry-access.ts'
import { maxQrBytes, renderQrSvg, renderQrText, renderReceiptSummary } from '../render/receipt.ts'

interface ReceiptOptions extends AccessOptions {
  workspace: string
  signKey?: string
  output?: string
  qr?: string | true
  full?: boolean
  check: boolean
  maxNestedPaths: number
}

/** More than this is carried as a file, not as a stack of paper. */
const maxParts = 8

const examples = `
The receipt is one line of text. Carry it as a file, or print it as a QR code, scan that on the other side, and put what the
scanner reads into a file; of several codes each text is a line of it.

Examples:
  sallyport archive receipt docker://registry.lab:8443/ocp --workspace file:///srv/mirror > receipt.json
  sallyport archive receipt docker://registry.lab:8443/ocp --workspace file:///srv/mirror --sign-key site.pem --qr receipt.svg
  sallyport archive receipt docker://registry.lab:8443/ocp --workspace file:///srv/mirror --qr
      shows the QR code on the terminal
  sallyport archive receipt docker://registry.lab:8443/ocp --workspace file:///srv/mirror --full --output receipt.json
      with every digest, for a connected side that has lost its workspace
  sallyport archive keygen site.pem
      makes a key to sign with; site.pub.pem goes to the other side once`

export function defineReceipt(command: Command, host: CommandHost): void {
  command
    .summary('what this side holds, for the side that makes archives')
    .description('Says which archives were loaded and which of their content is at the target, small enough for paper.')
    .argument('<destination>', 'docker://HOST[:PORT]/PATH that the archives were loaded into')
    .option('--workspace <dir>', 'the workspace of the loads: DIR or file://DIR', '.')
    .option('--sign-key <file>', 'private key to sign with (PEM: Ed25519, ECDSA P-256 or P-384, RSA)')
    .option('--output <file>', 'write the receipt there instead of to standard output')
    .option('--qr [file.svg]', 'also draw a QR code: to be printed, or on the terminal')
    .option('--full', 'with every digest: a large file, for a connected side that has lost its workspace')
    .option('--no-check', 'trust the record of the loads, ask the registry for nothing')
    .option('--max-nested-paths <number>', 'as it was given to the loads', readCount, 0)
  addAccessOptions(command)
    .addHelpText('after', examples)
    .action(async (destination: string, options: ReceiptOptions) => {
      const context = host.context()
      const made = await make(destination, options, context)
      const parts = options.qr === undefined ? [] : qrParts(made.text)
      await print(made, parts, { options, context })
      host.done(0)
    })
}

async function make(destination: string, options: ReceiptOptions, context: CliContext): Promise<MadeReceipt> {
  const target = withMaxNestedPaths(parseMirrorTarget(destination), options.maxNestedPaths)
  const signer = options.signKey === undefined ? undefined : await loadSigningKey(resolve(context.cwd, options.signKey))
  const { target: registry, close } = await openRegistries(options, context)
  try {
    return await makeReceipt({
      workspace: workspaceAt(options.workspace, context.cwd),
      target,
      registry: options.check ? registry : undefined,
      isFull: options.full === true,
      signer,
      signal: context.signal,
      onAsked: ({ done, total }) => {
        if (context.isTerminal) context.stderr(`\r\u001b[2K${done === total ? '' : `asked for ${done} of ${total}`}`)
      },
    })
  } finally {
    close()
  }
}

/** @throws KnownError USAGE */
function qrParts(text: string): readonly string[] {
  const parts = splitReceipt(text, maxQrBytes)
  if (parts.length <= maxParts) return parts
  throw new KnownError('USAGE', `This receipt has ${text.length} characters: that is ${parts.length} QR codes`, {
    hint: 'Carry it as a file: --output FILE, without --qr.',
  })
}

interface Printing {
  readonly options: ReceiptOptions
  readonly context: CliContext
}

async function print(made: MadeReceipt, parts: readonly string[], { options, context }: Printing): Promise<void> {
  const { receipt, text, absent, findings } = made
  const { stdout, stderr, cwd, json, color } = context
  const output = options.output === undefined ? undefined : resolve(cwd, options.output)
  if (output !== undefined) await writeWhole(output, text)
  if (typeof options.qr === 'string') {
    await writeWhole(resolve(cwd, options.qr), renderQrSvg(parts, `${receipt.target}: archive ${receipt.archives}`))
  }
  if (json) {
    const { content, ...facts } = receipt
    stdout(
      `${JSON.stringify({ receipt: facts, text: text.trimEnd(), absent: Object.fromEntries(absent), findings })}\n`,
    )
    return
  }
  if (output === undefined && options.qr !== true) stdout(text)
  if (options.qr === true) stdout(parts.map((part) => renderQrText(part, color)).join('\n'))
  stderr(renderReceiptSummary(made, options.check))
}

function readCount(text: string): number {
  if (/^[0-9]{1,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Write a number.')
}
