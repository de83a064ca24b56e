/** Names of channels: `stable-4.18`, `eus-4.16`, `candidate-5.0`; `stable-4` and `stable-scos-4` of OKD have no minor. */

interface ChannelName {
  readonly prefix: string
  readonly major: number
  readonly minor: number
}

interface Minor {
  readonly major: number
  readonly minor: number
}

/** More than there were in ten years: what is further away is a slip of the pen, and not worth a hundred requests. */
const mostMinors = 30

/** Undefined for a channel that is not of one minor. */
export function parseChannelName(name: string): ChannelName | undefined {
  const match = /^(.+)-(\d{1,4})\.(\d{1,4})$/.exec(name)
  return match?.[1] ? { prefix: match[1], major: Number(match[2]), minor: Number(match[3]) } : undefined
}

/**
 * `name`, and its like for every minor that is named and between: the lowest first.
 *
 * EUS channels are of even minors, and hold the odd ones below them. How many minors a major has is not known here: of
 * another major only the minors that are named themselves are in it.
 */
export function channelsAround(name: string, minors: readonly Minor[]): readonly string[] {
  const own = parseChannelName(name)
  if (!own) return [name]
  const wanted = new Map<string, Minor>([[name, own]])
  const add = (minor: Minor) => {
    const even = own.prefix === 'eus' ? minor.minor + (minor.minor % 2) : minor.minor
    wanted.set(`${own.prefix}-${minor.major}.${even}`, { major: minor.major, minor: even })
  }
  for (const { major, minor } of minors) {
    if (major !== own.major) add({ major, minor })
    else if (Math.abs(minor - own.minor) <= mostMinors) {
      for (let one = Math.min(minor, own.minor); one <= Math.max(minor, own.minor); one += 1) add({ major, minor: one })
    }
  }
  const sorted = [...wanted].toSorted(([, a], [, b]) => a.major - b.major || a.minor - b.minor)
  return sorted.map(([channel]) => channel)
}
