/** `|| ture`: a command that does not exist and fails only on the day when it is needed. */

/** What stands after `||` and `&&` in scripts, and can be spelled wrong without being something else. */
const commands = ['true', 'false', 'exit', 'echo', 'return', 'sleep', 'continue', 'break', 'printf', 'export', 'cat']

/** The command that was probably meant, for the first word after `||` or `&&` that is nearly one. */
export function misspelledCommand(line: string): { readonly written: string; readonly meant: string } | undefined {
  for (const [, written = ''] of line.matchAll(/(?:\|\||&&)\s*([a-z]+)(?=[\s;)}"'`]|$)/g)) {
    const meant = commands.includes(written) ? undefined : commands.find((command) => isNearly(written, command))
    if (meant !== undefined) return { written, meant }
  }
  return undefined
}

/** Two neighbours swapped, a letter twice, or one left out of a word that is long enough to know it again. */
function isNearly(written: string, command: string): boolean {
  const letters = [...command]
  const slips = letters.flatMap((letter, at) => {
    const [before, after] = [command.slice(0, at), command.slice(at + 1)]
    const swapped = `${before}${after.slice(0, 1)}${letter}${after.slice(1)}`
    return [swapped, `${before}${letter}${letter}${after}`, ...(command.length > 4 ? [`${before}${after}`] : [])]
  })
  return command.length > 3 && slips.includes(written)
}
