/** One word for a POSIX shell: the same bytes, whatever is in it (POSIX 2.2.2: nothing is special in single quotes). */
export function shellQuote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}
