/** Pieces of HTML: what is put into a template is escaped, unless it is such a piece itself. */

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type HtmlValue = string | number | Html | undefined | readonly HtmlValue[]

/** For text and for values of attributes in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => (index === 0 ? part : `${textOf(values[index - 1])}${part}`)).join(''))
}

function textOf(value: HtmlValue): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(textOf).join('')
  return escaped(String(value))
}

/** A path that is broken after its slashes, where it has to be. */
export function breakable(path: string): Html {
  const [first = '', ...rest] = path.split('/')
  return html`${first}${rest.map((part) => html`/<wbr>${part}`)}`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
