import assert from 'node:assert/strict'
import { test } from 'node:test'
import jsqr from 'jsqr'
import type { ArchiveSigner } from '../../archive/format/signature.ts'
import { parseReceipt, type Receipt, renderReceipt } from '../../archive/history/receipt.ts'
import { splitReceipt } from '../../archive/history/receipt-file.ts'
import { digestOf } from '../../oci/digest.ts'
import { maxQrBytes, renderQrSvg, renderQrText, renderReceiptSummary } from './receipt.ts'

/** As long as one by Ed25519. */
const signer: ArchiveSigner = {
  key: digestOf('key').slice('sha256:'.length),
  sign: () => ({ key: signer.key, value: Buffer.alloc(64, 7).toString('base64') }),
}

function receiptWith(exceptions: number): Receipt {
  const except = Array.from({ length: exceptions }, (_, n) => digestOf(`${n}`).slice(7, 12)).sort()
  return {
    ...{ target: 'registry.lab.example.com:8443/ocp', sequence: 12, archive: digestOf('a'), archives: '1-12' },
    held: { count: 5000 - exceptions, digest: digestOf('b'), except },
  }
}

/** What a scanner reads off a picture whose dark places are those of `isDark`. */
function scan(width: number, height: number, isDark: (x: number, y: number) => boolean): string | undefined {
  const scale = 4
  const pixels = new Uint8ClampedArray(width * height * scale * scale * 4)
  for (let y = 0; y < height * scale; y += 1) {
    for (let x = 0; x < width * scale; x += 1) {
      const value = isDark(Math.floor(x / scale), Math.floor(y / scale)) ? 0 : 255
      pixels.set([value, value, value, 255], (y * width * scale + x) * 4)
    }
  }
  return jsqr.default(pixels, width * scale, height * scale)?.data
}

/** The codes of a page, each drawn by itself. */
function scanSvg(svg: string): (string | undefined)[] {
  const width = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1])
  return [...svg.matchAll(/<path d="([^"]*)"/g)].map(([, path = '']) => {
    const dark = new Set<number>()
    for (const [, x = '', y = '', length = ''] of path.matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g)) {
      for (let run = 0; run < Number(length); run += 1) dark.add(Number(y) * width + Number(x) + run)
    }
    return scan(width, width, (x, y) => dark.has(y * width + x))
  })
}

test('a receipt that is printed as a QR code is read back by a scanner', () => {
  for (const exceptions of [0, 20, 200]) {
    const text = renderReceipt(receiptWith(exceptions), signer)
    const parts = splitReceipt(text, maxQrBytes)
    assert.equal(parts.length, 1)
    const [read] = scanSvg(renderQrSvg(parts, 'a & b'))
    assert.deepEqual(parseReceipt(read ?? '', 'scan'), parseReceipt(text, 'text'))
  }
})

test('a receipt that is too long for one code is printed as several, and read back from all of them', () => {
  const parts = splitReceipt(renderReceipt(receiptWith(700), signer), maxQrBytes)
  assert.equal(parts.length, 3)
  assert.deepEqual(scanSvg(renderQrSvg(parts, 'site')), [...parts])
})

test('a receipt is read back off a terminal', () => {
  const text = renderReceipt(receiptWith(1), signer).trimEnd()
  const lines = renderQrText(text, false).trimEnd().split('\n')
  const width = lines[0]?.length ?? 0
  const isDark = (x: number, y: number) => {
    const block = lines[Math.floor(y / 2)]?.[x] ?? ' '
    return y % 2 === 0 ? ' ▄'.includes(block) : ' ▀'.includes(block)
  }
  assert.equal(scan(width, lines.length * 2, isDark), text)
})

test('what is gone is named, and no more of it than a person reads', () => {
  const receipt = receiptWith(0)
  const absent = new Map(
    Array.from({ length: 12 }, (_, n) => [digestOf(`${n}`), `registry.lab/ocp/image-${n}`] as const),
  )
  const summary = renderReceiptSummary(
    { receipt, text: renderReceipt(receipt), absent, isNoted: true, findings: [] },
    true,
  )
  assert.match(
    summary,
    /^receipt of registry.lab.example.com:8443\/ocp: 5,000 blobs and manifests of archive 1-12, each asked for there\n/,
  )
  assert.equal(summary.match(/gone: /g)?.length, 10)
  assert.match(summary, /and 2 more/)
  assert.match(summary, /not signed/)
})
