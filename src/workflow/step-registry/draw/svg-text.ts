/** What XML 1.0 cannot hold, not even escaped: a file with it in is no XML at all. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that have to go
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

/** For text and for attributes in double quotes. */
export function svgText(text: string): string {
  return text
    .toWellFormed()
    .replace(forbidden, '')
    .replace(/[&<>"]/g, (character) => entities[character] ?? character)
}
