import type { CliContext } from '../context.ts'
import { formatBytes, formatDuration } from './quantities.ts'

const redrawMs = 200
const plainLineMs = 10_000

/** Follows the reading of `total` bytes on standard error; without `total`, of nobody knows how many. */
export function followReading(
  { clock, isTerminal, stderr }: CliContext,
  total?: number,
): { readonly onBytes: (bytes: number) => void; readonly stop: () => void } {
  const startedAt = clock.now()
  const everyMs = isTerminal ? redrawMs : plainLineMs
  let done = 0
  const draw = () => {
    const rate = (done * 1000) / Math.max(1, clock.now() - startedAt)
    const isGoingOn = total !== undefined && rate > 0 && done < total
    const left = isGoingOn ? `, ${formatDuration(((total - done) / rate) * 1000)} left` : ''
    const whole = total === undefined ? '' : ` of ${formatBytes(total)}`
    const line = `read ${formatBytes(done)}${whole}, ${formatBytes(rate)}/s${left}`
    stderr(isTerminal ? `\r\u001b[2K${line}` : `${line}\n`)
    cancel = clock.after(everyMs, draw)
  }
  let cancel = clock.after(everyMs, draw)
  return {
    onBytes: (bytes) => {
      done += bytes
    },
    stop: () => {
      cancel()
      if (isTerminal) stderr('\r\u001b[2K')
    },
  }
}
