/**
 * How large receipts are, and how long it takes to make one and to build the next archive's base on it.
 *
 *     node bench/receipt.ts [--images 10000] [--blobs 10]
 *
 * Prints Markdown. Blobs are for each image, one more is shared by all. The base is opened in a process of its own, whose start counts.
 */
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadSigningKey } from '../src/archive/format/signature.ts'
import { openBase } from '../src/archive/history/archive-base.ts'
import { readHistory, recordArchive } from '../src/archive/history/archive-history.ts'
import { composeReceipt } from '../src/archive/history/compose-receipt.ts'
import { sumHistory } from '../src/archive/history/history-content.ts'
import { renderReceipt } from '../src/archive/history/receipt.ts'
import { readReceipt } from '../src/archive/history/receipt-file.ts'
import { sampleArchive } from '../testkit/archive-history.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { Cleanups, measure } from './measure.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { images: { type: 'string', default: '10000' }, blobs: { type: 'string', default: '10' } },
})
const target = 'registry.lab.example.com:8443/ocp'
const script = fileURLToPath(import.meta.url)

/** From the directory to a base that has answered for every image. */
async function openOnce(directory: string, receiptFile: string | undefined): Promise<void> {
  const receipt = receiptFile === undefined ? undefined : await readReceipt(receiptFile)
  const base = await openBase(directory, { receipt })
  for (let index = 0; index < Number(options.images); index += 1) {
    base.wholeImage(`quay.io/sample/image-${index}:1`, `sample/image-${index}:1`)
  }
}

async function compare(t: Cleanups): Promise<void> {
  const directory = await tempDir(t)
  const images = Array.from({ length: Number(options.images) }, (_, index) => ({
    name: `image-${index}`,
    blobs: ['shared', ...Array.from({ length: Number(options.blobs) }, (_unused, blob) => `${index}.${blob}`)],
  }))
  await recordArchive(directory, sampleArchive({ sequence: 1, images }))
  const { privateKey } = generateKeyPairSync('ed25519')
  await writeFile(join(directory, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const signer = await loadSigningKey(join(directory, 'key.pem'))
  const { archives: entries } = await readHistory(directory, undefined)
  const sum = await sumHistory(entries)
  process.stdout.write(`| exceptions of ${sum.carried.size} | bytes | signed | made in ms |\n|---|---|---|---|\n`)
  const receipt = join(directory, 'receipt.json')
  for (const exceptions of [0, 1, 20, 200, 1000]) {
    const startedAt = performance.now()
    const absent = new Set([...sum.carried].slice(sum.carried.size - exceptions))
    const made = composeReceipt({ target, entries, sum }, { absent })
    const milliseconds = performance.now() - startedAt
    const signed = renderReceipt(made, signer)
    process.stdout.write(
      `| ${exceptions} | ${renderReceipt(made).length} | ${signed.length} | ${milliseconds.toFixed(0)} |\n`,
    )
    if (exceptions === 20) await writeFile(receipt, signed)
  }
  const sizes = ['--images', String(options.images), '--blobs', String(options.blobs)]
  for (const [what, words] of Object.entries({ declared: [directory], 'by receipt': [directory, receipt] })) {
    const { failure, wallSeconds, peakMiB } = await measure([process.execPath, script, ...sizes, ...words])
    if (failure !== undefined) throw new Error(failure)
    process.stdout.write(`base ${what}: process ${wallSeconds.toFixed(2)} s, peak ${peakMiB.toFixed(0)} MiB\n`)
  }
}

const [directory, receiptFile] = positionals
if (directory !== undefined) await openOnce(directory, receiptFile)
else {
  const t = new Cleanups()
  try {
    await compare(t)
  } finally {
    await t.run()
  }
}
