/** What a stand-in does, as the script in bash that it runs inside the sandbox. */
import { quoted } from '../sandbox/sandbox.ts'

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
    ...folders.map((folder) => `mkdir -p -- ${quoted(folder)}`),
    ...Object.entries(files).flatMap(([path, text]) => [
      ...(path.includes('/') ? [`mkdir -p -- ${quoted(path.slice(0, path.lastIndexOf('/')))}`] : []),
      `[ -e ${quoted(path)} ] || printf '%s' ${quoted(text)} > ${quoted(path)}`,
    ]),
    ...(stdout === '' ? [] : [`printf '%s' ${quoted(stdout)}`]),
    ...(stderr === '' ? [] : [`printf '%s' ${quoted(stderr)} >&2`]),
    exec === undefined ? `exit ${status}` : `exec ${exec}`,
  ]
  return `${lines.join('\n')}\n`
}
