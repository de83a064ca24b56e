/** For a value that a template, a shell or a person should have filled in; empty where it does not look so. */
export function placeholderHint(text: string): string {
  if (/\{\{|\{%|\$[{(]?[A-Za-z_]/.test(text)) return '; it looks like a variable that nobody has filled in'
  return /<[^>]*>/.test(text) ? '; write the real value instead of the text between < and >' : ''
}
