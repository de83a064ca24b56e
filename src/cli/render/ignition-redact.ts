/** What was taken out of a config, for people. */
import { count } from './quantities.ts'

interface RedactedReport {
  readonly output: string
  readonly secrets: number
  readonly changed: readonly string[]
}

const shownPlaces = 30

export function renderRedacted({ output, secrets, changed }: RedactedReport): string {
  if (secrets === 0) return `${output}: no secrets were found, and the copy says what the config says\n`
  const more = changed.length - shownPlaces
  const lines = [
    `${output}: ${count(secrets, 'secret')} taken out; opened again to the last wrapping, none is left`,
    ...changed.slice(0, shownPlaces).map((place) => `  ${place}`),
    ...(more > 0 ? [`  and ${count(more, 'more place')} (--json lists them all)`] : []),
  ]
  return `${lines.join('\n')}\n`
}
