/** How text is broken and how wide it gets, without a font at hand. */

/** Of a monospaced font, in its size: DejaVu Sans Mono and Menlo are the widest in use, with 0.602. */
const advance = 0.61

/** What East Asian fonts draw in a square. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u

/** Pixels that `text` takes at most, in a monospaced font of `size` pixels. */
export function textWidth(text: string, size: number): number {
  let columns = 0
  for (const character of text) columns += wide.test(character) ? 1.7 : 1
  return columns * advance * size
}

/** Lines of at most `columns` characters, broken after a hyphen or a space where there is one. */
export function brokenLines(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let rest = [...text.replace(/\s+/g, ' ').trim()]
  while (rest.length > columns) {
    const head = rest.slice(0, columns)
    const at = Math.max(head.lastIndexOf('-'), head.lastIndexOf(' ')) + 1
    const cut = at > columns / 3 ? at : columns
    lines.push(head.slice(0, cut).join('').trimEnd())
    rest = rest.slice(cut)
  }
  return [...lines, rest.join('')]
}
