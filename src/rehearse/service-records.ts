/**
 * Service records of the bootstrap host: `/var/log/openshift/UNIT.json`, one entry for the beginning and the end of the service
 * and of each of its stages.
 *
 * Source: openshift/installer `data/data/bootstrap/files/usr/local/bin/bootstrap-service-record.sh`,
 * `pkg/gather/service/entry.go`, whose `json:"string"` for the stage does not match what the script writes.
 */
import { parsedJson } from '../errors/parsed-json.ts'

export interface ServiceRecordEntry {
  /** The clock of the host, in UTC. */
  readonly timestamp: string
  readonly phase: string
  readonly result?: 'success' | 'failure'
  readonly stage?: string
  readonly preCommand?: string
  readonly postCommand?: string
  /** `LINE FUNCTION FILE`; the line is 1 where the script ended by `set -e`. */
  readonly errorLine?: string
  /** The last lines of the journal of the unit. */
  readonly errorMessage?: string
}

export interface ServiceSummary {
  /** How often the service began: a script that loads the library twice begins twice, which counts once. */
  readonly starts: number
  /** True where the last entry is the successful end of the service, or of a command after it. */
  readonly isSuccessful: boolean
  /** Begun, and not ended. */
  readonly openStage?: string
  readonly stagesDone: readonly string[]
  /** Stages that ended in failure, with how often. */
  readonly failedStages: ReadonlyMap<string, number>
  readonly lastError?: string
}

/**
 * Reads a record, as far as it goes: one that is cut in the middle (a full disk) gives the entries before the cut.
 *
 * @returns undefined where the text is no record at all
 */
export function parseServiceRecord(text: string): readonly ServiceRecordEntry[] | undefined {
  const whole = parsedJson(text)
  if (Array.isArray(whole)) return whole.filter(isEntry)
  if (!text.trimStart().startsWith('[')) return undefined
  // The entries are flat: each ends with the first brace that closes and is not in a text.
  const entries = [...text.matchAll(/\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}/g)].map(([entry]) => parsedJson(entry))
  return entries.filter(isEntry)
}

function isEntry(entry: unknown): entry is ServiceRecordEntry {
  if (typeof entry !== 'object' || entry === null) return false
  return (
    'phase' in entry && typeof entry.phase === 'string' && 'timestamp' in entry && typeof entry.timestamp === 'string'
  )
}

export function summariseServiceRecord(entries: readonly ServiceRecordEntry[]): ServiceSummary {
  let starts = 0
  let isRunning = false
  let openStage: string | undefined
  let lastError: string | undefined
  const done: string[] = []
  const failed = new Map<string, number>()
  for (const { phase, result, stage = '', errorMessage } of entries) {
    if (phase === 'service start') {
      if (!isRunning) starts += 1
      isRunning = true
    }
    if (phase === 'service end') isRunning = false
    if (phase === 'stage start') openStage = stage
    if (phase === 'stage end') {
      openStage = undefined
      if (result === 'success') done.push(stage)
      else failed.set(stage, (failed.get(stage) ?? 0) + 1)
    }
    if (result === 'failure' && errorMessage !== undefined) lastError = errorMessage
  }
  const last = entries.at(-1)
  const isEnd = last?.phase === 'service end' || last?.phase === 'post-command end'
  return {
    starts,
    isSuccessful: isEnd && last?.result === 'success',
    ...(openStage !== undefined && { openStage }),
    stagesDone: done,
    failedStages: failed,
    ...(lastError !== undefined && { lastError }),
  }
}
