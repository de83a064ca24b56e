/** The head of an HTTP/1.1 response (RFC 9112). Pure. */

export interface ResponseHead {
  readonly status: number
  /** Lower-case names; repeated fields joined by a comma (RFC 9110 5.3). */
  readonly headers: Readonly<Record<string, string>>
  /** How the body ends: after so many bytes, by chunked coding, or with the connection. */
  readonly framing: number | 'chunked' | 'close'
  /** True where the server will close after this response. */
  readonly isLast: boolean
}

/** What does not look like HTTP. */
export class InvalidHead extends Error {}

const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: .*)?$/
const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/

/**
 * @param text everything before the empty line
 * @throws InvalidHead
 */
export function parseResponseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const start = statusLine.exec(first)
  if (start === null) throw new InvalidHead(`not an HTTP/1.1 status line: "${first.slice(0, 80)}"`)
  const status = Number(start[2])
  const headers = parseFields(lines)
  const connection = headers['connection']?.toLowerCase() ?? ''
  const isLast = start[1] === '0' ? !connection.includes('keep-alive') : connection.includes('close')
  const framing = framingOf(status, headers)
  return { status, headers, framing, isLast: isLast || framing === 'close' }
}

function parseFields(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const match = field.exec(line)
    if (match === null) throw new InvalidHead(`not a header field: "${line.slice(0, 80)}"`)
    const name = (match[1] ?? '').toLowerCase()
    const value = match[2] ?? ''
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}

/** RFC 9112 6.3. Two lengths that differ, or a length beside a coding, may hide a second response: refused. */
function framingOf(status: number, headers: Readonly<Record<string, string>>): ResponseHead['framing'] {
  if (status < 200 || status === 204 || status === 304) return 0
  const coding = headers['transfer-encoding']?.toLowerCase()
  const lengths = new Set(headers['content-length']?.split(',').map((length) => length.trim()))
  if (coding !== undefined) {
    if (coding !== 'chunked' || lengths.size > 0)
      throw new InvalidHead(`Transfer-Encoding "${coding}" is not understood`)
    return 'chunked'
  }
  if (lengths.size === 0) return 'close'
  const [length = ''] = lengths
  if (lengths.size > 1 || !/^\d{1,15}$/.test(length))
    throw new InvalidHead(`Content-Length "${[...lengths].join(', ')}" is no length`)
  return Number(length)
}
