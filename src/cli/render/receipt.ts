/** Receipts for people: what one says, and QR codes of it. */
import { encode } from 'uqr'
import type { MadeReceipt } from '../../flows/make-receipt.ts'
import { count } from './quantities.ts'

/** What a QR code of the largest size holds (version 40, level L; ISO/IEC 18004 table 7). */
export const maxQrBytes = 2953
/** Light modules around a code, which scanners need (ISO/IEC 18004 9.1). */
const quietZone = 4
const shownAbsent = 10

/** Two lines or more: what the receipt says, and what was not there. */
export function renderReceiptSummary(
  { receipt, text, absent, isNoted, findings }: MadeReceipt,
  isChecked: boolean,
): string {
  const { target, archives, held, signature } = receipt
  const what = `${held.count.toLocaleString('en-US')} blobs and manifests of archive ${archives}`
  const lines = [
    `receipt of ${target}: ${what}${isChecked ? ', each asked for there' : ', not asked for there (--no-check)'}`,
    ...(held.except.length > 0 ? [`${count(held.except.length, 'exception')}: what never arrived, or is gone`] : []),
    ...absentLines(absent),
    ...(isNoted
      ? []
      : [
          'warning: what is gone could not be noted in the workspace; make the receipt again when no mirror is at work there',
        ]),
    ...findings.map(({ severity, summary, remedy }) => `${severity}: ${summary}${remedy ? `. ${remedy}` : ''}`),
    `${text.length - 1} characters, ${signature ? `signed with the key ${signature.key.slice(0, 16)}` : 'not signed (--sign-key PRIVATE.pem signs)'}`,
    'next: carry it to the side that makes archives, and make the next one with: sallyport mirror --base RECEIPT',
  ]
  return `${lines.join('\n')}\n`
}

function absentLines(absent: MadeReceipt['absent']): string[] {
  const names = [...absent.values()].sort()
  const more = names.length > shownAbsent ? [`  and ${names.length - shownAbsent} more (--json lists them all)`] : []
  return [...names.slice(0, shownAbsent).map((name) => `  gone: ${name}`), ...more]
}

/** A QR code to be scanned off a terminal, two rows of modules a line. */
export function renderQrText(text: string, color: boolean): string {
  const rows = modulesOf(text)
  const blocks = ['█', '▄', '▀', ' ']
  const lines: string[] = []
  for (let top = 0; top < rows.length; top += 2) {
    const line = (rows[top] ?? []).map((isDark, column) => {
      const isDarkBelow = rows[top + 1]?.[column] ?? true
      return blocks[(isDark ? 1 : 0) + (isDarkBelow ? 2 : 0)] ?? ' '
    })
    // Light modules are drawn: most terminals are dark, and with colours the others are made so.
    lines.push(color ? `\u001b[97;40m${line.join('')}\u001b[0m` : line.join(''))
  }
  return `${lines.join('\n')}\n`
}

/** A page to be printed: the codes below each other, each with what it is. */
export function renderQrSvg(parts: readonly string[], caption: string): string {
  const codes = parts.map(modulesOf)
  const width = Math.max(...codes.map((rows) => rows.length))
  const lineHeight = Math.max(3, Math.round(width / 30))
  let top = 0
  const drawn = codes.map((rows, index) => {
    const label = parts.length > 1 ? `${caption} (${index + 1} of ${parts.length})` : caption
    const code = `<g transform="translate(${(width - rows.length) / 2} ${top})"><path d="${pathOf(rows)}"/></g>`
    const textTop = top + rows.length + lineHeight / 2
    top += rows.length + 2 * lineHeight
    return `${code}\n<text x="${width / 2}" y="${textTop}" font-size="${lineHeight * 0.8}">${escapeXml(label)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" shape-rendering="crispEdges" text-anchor="middle" font-family="sans-serif">`,
    `<rect width="${width}" height="${top}" fill="#fff"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

/** True is dark. With the light border. */
function modulesOf(text: string): readonly (readonly boolean[])[] {
  return encode(text, { ecc: 'L', border: quietZone }).data
}

/** Runs of dark modules in a row are one rectangle. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  const runs = rows.flatMap((row, y) => {
    const starts = row.flatMap((isDark, x) => (isDark && !row[x - 1] ? [x] : []))
    return starts.map((x) => {
      const end = row.indexOf(false, x)
      return `M${x} ${y}h${(end < 0 ? row.length : end) - x}v1H${x}z`
    })
  })
  return runs.join('')
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
