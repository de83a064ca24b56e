/**
 * Which names were asked for over DNS, by nftables alone: the proof then says `quay.io` and not only the resolver's address.
 *
 * The name is the first that follows the headers of UDP (8 bytes) and DNS (12), as labels with their lengths; type and class
 * follow it, 4 bytes (RFC 1035 4.1.2). A raw expression must lie within the packet, so there is a set for each length in
 * words of 4 bytes: as many as fit hold the whole name (of two letters or more), up to the longest key of a set, 64 bytes.
 */

const headerBytes = 20
const wordBytes = 4
const shortest = 2
const longest = 16

const sizes = Array.from({ length: longest - shortest + 1 }, (_, index) => index + shortest)

/**
 * How the key for so many words is cut up: four parts at most, because nft 1.0.6 ends with an assertion when it lists more;
 * of one word, or of three and more, because it prints those in between as numbers that JSON cannot hold.
 */
function partsOf(size: number): readonly number[] {
  if (size <= 4) return Array.from({ length: size }, () => 1)
  const whole = Array.from({ length: Math.floor(size / 4) }, () => 4)
  const rest = size % 4
  if (rest === 0) return whole
  if (rest !== 2) return [...whole, rest]
  return whole.length < 3 ? [...whole, 1, 1] : [...whole.slice(1), 3, 3]
}

/** `@th,OFFSET,LENGTH` in bits from the header of UDP (nft(8) "RAW PAYLOAD EXPRESSION"). */
function keyOf(size: number): string {
  const parts = partsOf(size)
  const words = parts.map((count, index) => {
    const before = parts.slice(0, index).reduce((sum, each) => sum + each, 0)
    return `@th,${(headerBytes + before * wordBytes) * 8},${count * wordBytes * 8}`
  })
  return words.join(' . ')
}

/** Sets for a table. */
export function questionSets(): readonly string[] {
  return sizes.map((size) => `set asked${size} { typeof ${keyOf(size)}; size 4096; flags dynamic; counter; }`)
}

/** Rules for a chain; they note, and let pass. */
export function questionRules(): readonly string[] {
  return sizes.map((size) => {
    const least = headerBytes + size * wordBytes
    const most = size === longest ? 65535 : least + wordBytes - 1
    return `udp dport 53 udp length ${least}-${most} update @asked${size} { ${keyOf(size)} }`
  })
}

/** The name in an element of one of these sets; one that was cut off ends with `…`. */
export function nameOf(set: string, element: readonly (string | number)[]): string {
  const parts = partsOf(Number(set.slice('asked'.length)))
  const hex = parts.map((count, index) =>
    BigInt(element[index] ?? 0)
      .toString(16)
      .padStart(count * wordBytes * 2, '0'),
  )
  const bytes = Buffer.from(hex.join(''), 'hex')
  const labels: string[] = []
  let at = 0
  for (;;) {
    const length = bytes[at]
    if (length === 0) return labels.join('.') || '.'
    // More than 63 is no length of a label (RFC 1035 4.1.4).
    if (length === undefined || length > 63) return `${labels.join('.')}…`
    labels.push(printable(bytes.subarray(at + 1, at + 1 + length)))
    at += 1 + length
  }
}

/** What was sent is somebody's choice: nothing in it may act on a terminal. */
function printable(label: Uint8Array): string {
  return Buffer.from(label)
    .toString('latin1')
    .replaceAll(/[^\w-]/g, '?')
}
