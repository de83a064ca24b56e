import { redact } from '../errors/redact.ts'

export const logLevels = ['error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof logLevels)[number]

/** Where a library tells what it does. Never the place for results: those are returned. */
export interface Log {
  readonly level: LogLevel
  error(message: string): void
  warn(message: string): void
  info(message: string): void
  debug(message: string): void
  trace(message: string): void
}

/** A log that hands every line of at least `level` to `write`, redacted. */
export function createLog(level: LogLevel, write: (line: string, level: LogLevel) => void): Log {
  const limit = logLevels.indexOf(level)
  const at = (of: LogLevel) => (message: string) => {
    if (logLevels.indexOf(of) <= limit) write(redact(message), of)
  }
  return { level, error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), trace: at('trace') }
}

export const silentLog: Log = createLog('error', () => undefined)
