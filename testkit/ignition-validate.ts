/** What `ignition-validate` says of a config, in a form that can be compared. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { IgnitionReport, IgnitionReportEntry } from '../src/ignition/report.ts'

export interface Verdict {
  readonly isFatal: boolean
  /** In order of the alphabet, because the peer tells unused keys in any. */
  readonly lines: readonly string[]
}

export async function peerVerdict(program: string, config: string): Promise<Verdict> {
  const child = spawn(program, ['-'], { stdio: 'pipe' })
  const status = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  // It may end before it has read all.
  child.stdin.on('error', () => undefined)
  child.stdin.end(config)
  const [said, failed] = await Promise.all([text(child.stdout), text(child.stderr)])
  const lines = `${said}${failed}`.split('\n').filter((line) => line !== '')
  return { isFatal: (await status) !== 0, lines: lines.map(comparablePeerLine).toSorted() }
}

/** Our own report as the peer would write it: without what is said beyond its words. */
export function ownVerdict({ entries, isFatal }: IgnitionReport): Verdict {
  // The peer leaves out a space at the very end.
  const lines = entries.filter(({ severity }) => severity !== 'info').map((entry) => lineOf(entry).trimEnd())
  return { isFatal, lines: lines.toSorted() }
}

/** Go names structs within structs since 1.24, and Ignition 2.14 had other words. */
function comparablePeerLine(line: string): string {
  return line
    .trimEnd()
    .replace(/(?:Node|FileEmbedded1|DirectoryEmbedded1|LinkEmbedded1)\./, '')
    .replace(/: Unused key /, ': unused key ')
    .replace('may not be reported.', 'may not be reported')
    .replace(
      'not supported in spec versions older than 3.4.0',
      'not supported or functional in spec versions older than 3.6.0',
    )
    .replace(/at line \d+ col \d+: unexpected end/, 'at line 0 col 0: unexpected end')
}

const withoutPlace = /^(?:unsupported config version|invalid config version|not a config)/
const withoutPath = /^(?:json: |invalid character '|unexpected end )/

function lineOf({ severity, path, line, column, message }: IgnitionReportEntry): string {
  if (withoutPlace.test(message)) return `couldn't parse config: ${message}`
  const place = message.startsWith('unexpected end ') ? 'line 0 col 0' : `line ${line} col ${column}`
  return withoutPath.test(message)
    ? `${severity} at ${place}: ${message}`
    : `${severity} at ${path}, ${place}: ${message}`
}
