/** What a stand-in does, as the script in bash that it runs inside the sandbox. */
import { shellQuote } from '../../host/shell-quote.ts'

export interface Answer {
  readonly stdout?: string
  readonly stderr?: string
  /** Default: 0. */
  readonly status?: number
  /** Folders and files to make, relative to where the script stands; what is there already stays. */
  readonly folders?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** In the place of ending: a program of the machine, which goes on in its stead. */
  readonly exec?: string
}

export function answerScript(answer: Answer): string {
  const { stdout = '', stderr = '', status = 0, folders = [], files = {}, exec } = answer
  const lines = [
    ...folders.map((folder) => `mkdir -p -- ${shellQuote(folder)}`),
    ...Object.entries(files).flatMap(([path, text]) => [
      ...(path.includes('/') ? [`mkdir -p -- ${shellQuote(path.slice(0, path.lastIndexOf('/')))}`] : []),
      `[ -e ${shellQuote(path)} ] || printf '%s' ${shellQuote(text)} > ${shellQuote(path)}`,
    ]),
    ...(stdout === '' ? [] : [`printf '%s' ${shellQuote(stdout)}`]),
    ...(stderr === '' ? [] : [`printf '%s' ${shellQuote(stderr)} >&2`]),
    exec === undefined ? `exit ${status}` : `exec ${exec}`,
  ]
  return `${lines.join('\n')}\n`
}
