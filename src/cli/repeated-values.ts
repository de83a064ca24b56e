/** Options that are given again for another value. */
import { InvalidArgumentError } from 'commander'

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** `NAME=VALUE`; of a name that is given again the last value counts. */
export function collectNamed(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It has to be NAME=VALUE.')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}
